import { useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { useTranslations } from "use-intl";
import { Redirect, Route, Switch } from "wouter";
import { LiveProvider } from "@/api/live-context";
import { SESSION, useSession } from "@/api/session";
import { InboxPage } from "@/inbox/inbox-page";
import { LoginPage } from "@/login/login-page";
import { Announcer } from "@/shell/announcer";
import { Layout } from "@/shell/layout";
import { PageTitle } from "@/shell/page-title";
import { useTheme } from "@/shell/theme";

const ChatPage = lazy(async () => ({ default: (await import("@/chat/chat-page")).ChatPage }));
const HistoryPage = lazy(async () => ({ default: (await import("@/history/history-page")).HistoryPage }));
const SettingsPage = lazy(async () => ({ default: (await import("@/settings/settings-page")).SettingsPage }));

export function App() {
  useTheme();
  return (
    <Announcer>
      <Switch>
        <Route path="/login">
          <LoginPage />
        </Route>
        <Route>
          <SignedIn />
        </Route>
      </Switch>
    </Announcer>
  );
}

function SignedIn() {
  const client = useQueryClient();
  const t = useTranslations("shell");
  const session = useSession();
  if (session.isPending) return <p>{t("loading")}</p>;
  if (session.isError) return <p role="alert">{t("failed", { message: session.error.message })}</p>;
  if (!session.data) return <Redirect to={`/login?next=${encodeURIComponent(location.pathname + location.search)}`} />;
  return (
    <LiveProvider onSignedOut={() => client.setQueryData(SESSION, null)}>
      <Layout>
        <Suspense fallback={<p>{t("loading")}</p>}>
          <Pages />
        </Suspense>
      </Layout>
    </LiveProvider>
  );
}

function Pages() {
  const t = useTranslations("shell");
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/inbox" />
      </Route>
      {/* One page for both: from 1024 px on the list and the request stand side by side. */}
      <Route path="/inbox">
        <InboxPage />
      </Route>
      <Route path="/requests/:id">{({ id }) => <InboxPage requestId={id} />}</Route>
      <Route path="/chat/:thread?">
        <ChatPage />
      </Route>
      <Route path="/history">
        <HistoryPage />
      </Route>
      <Route path="/settings/:section?">
        <SettingsPage />
      </Route>
      <Route>
        <PageTitle name="not-found">{t("notFound")}</PageTitle>
      </Route>
    </Switch>
  );
}
