import { Component, type ReactNode } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { Button } from "@/design/button";
import { PageTitle } from "./page-title";
import styles from "./states.module.css";

interface Props {
  /** Another place is another try. */
  place: string;
  children: ReactNode;
}

interface State {
  error: Error | null;
  place: string;
}

/** A page that breaks says so and what to do; the rest goes on. */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: null, place: this.props.place };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps({ place }: Props, state: State): Partial<State> | null {
    return place === state.place ? null : { error: null, place };
  }

  override render(): ReactNode {
    return this.state.error ? <Broken error={this.state.error} /> : this.props.children;
  }
}

function Broken({ error }: { error: Error }) {
  const t = useTranslations("shell.broken");
  const shell = useTranslations("shell");
  return (
    <div className={styles.state} role="alert">
      <PageTitle name="broken">{t("title")}</PageTitle>
      <p className={styles.text}>{t("what")}</p>
      <Button look="primary" onClick={() => location.reload()}>
        {t("reload")}
      </Button>
      <Link href="/inbox">{shell("toInbox")}</Link>
      <details className={styles.details}>
        <summary>{t("details")}</summary>
        <pre>{`${error.name}: ${error.message}`}</pre>
      </details>
    </div>
  );
}
