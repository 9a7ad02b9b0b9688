import { Suspense, useState } from "react";
import { Redirect, Route, Switch } from "wouter";
import { AnswerPage } from "@/answer/answer-page";
import { LiveProvider } from "@/api/live-context";
import { useSamePerson, useSession } from "@/api/session";
import { InboxPage } from "@/inbox/inbox-page";
import { EndedSheet } from "@/login/ended-sheet";
import { LoginPage } from "@/login/login-page";
import { ReturnPage } from "@/login/return-page";
import { Announcer } from "@/shell/announcer";
import { ErrorBoundary } from "@/shell/error-boundary";
import { Failed } from "@/shell/failed";
import { Layout } from "@/shell/layout";
import { LoadingPage, lazyPage } from "@/shell/lazy-page";
import { Loading } from "@/shell/loading";
import { NotFound } from "@/shell/not-found";
import { useTheme } from "@/shell/theme";
import { useVisibleHeight } from "@/shell/visible-height";

const ChatPage = lazyPage(async () => (await import("@/chat/chat-page")).ChatPage);
const FiguresPage = lazyPage(async () => (await import("@/figures/figures-page")).FiguresPage);
const HistoryPage = lazyPage(async () => (await import("@/history/history-page")).HistoryPage);
const SettingsPage = lazyPage(async () => (await import("@/settings/settings-page")).SettingsPage);

export function App() {
  useTheme();
  useVisibleHeight();
  return (
    <Announcer>
      <ErrorBoundary place="app">
        <Switch>
          <Route path="/login/return">
            <ReturnPage />
          </Route>
          <Route path="/answer">
            <AnswerPage />
          </Route>
          <Route path="/login">
            <LoginPage />
          </Route>
          <Route>
            <SignedIn />
          </Route>
        </Switch>
      </ErrorBoundary>
    </Announcer>
  );
}

function SignedIn() {
  const session = useSession();
  const [isEnded, setEnded] = useState(false);
  useSamePerson(session.data?.user_id, (isSignedIn) => setEnded(!isSignedIn));
  if (session.isPending) return <Loading />;
  if (session.isError) return <Failed error={session.error} onRetry={() => void session.refetch()} />;
  if (!session.data)
    return <Redirect to={`/login?next=${encodeURIComponent(location.pathname + location.search)}`} replace />;
  return (
    <LiveProvider key={session.data.user_id} isEnded={isEnded} onSignedOut={() => setEnded(true)}>
      <Layout>
        <Suspense fallback={<LoadingPage />}>
          <Pages />
        </Suspense>
      </Layout>
      {isEnded && <EndedSheet onBack={() => setEnded(false)} />}
    </LiveProvider>
  );
}

/** One page for both: from 1024 px on the list and the request stand side by side, and the list stays as it is. */
const INBOX = /^\/(?:inbox|requests\/(?<id>[^/]+))\/?$/;

function Pages() {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/inbox" replace />
      </Route>
      <Route path={INBOX}>{({ id }) => <InboxPage requestId={id} />}</Route>
      <Route path="/chat/:thread?">
        <ChatPage />
      </Route>
      <Route path="/history">
        <HistoryPage />
      </Route>
      <Route path="/figures">
        <FiguresPage />
      </Route>
      <Route path="/settings/:section?">
        <SettingsPage />
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}
