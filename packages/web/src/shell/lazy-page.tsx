import { type ComponentType, Suspense, use, useEffect, useRef } from "react";
import { useTranslations } from "use-intl";
import { useConnection } from "@/api/live-context";
import { Button } from "@/design/button";
import { Failed } from "./failed";
import { Loading } from "./loading";
import { PageTitle } from "./page-title";
import styles from "./states.module.css";

/** A page whose code is loaded when somebody first goes there. */
export function lazyPage(load: () => Promise<ComponentType>): ComponentType {
  let page: Promise<ComponentType> | undefined;
  return function LazyPage() {
    const { openings } = useConnection();
    page ??= load().catch((error: Error) => notLoaded(error, openings));
    const Page = use(page);
    return <Page />;
  };
}

/**
 * Browsers do not ask twice for code that did not come: it comes with all of the app, once there is a connection again.
 * Where none was lost it would be loaded for ever.
 */
function notLoaded(error: Error, since: number): ComponentType {
  return function NotLoaded() {
    const { state, openings } = useConnection();
    const isCut = useRef(false);
    useEffect(() => {
      isCut.current ||= state === "offline" || (since > 0 && openings > since);
      if (state === "live" && isCut.current) location.reload();
    }, [state, openings]);
    return state === "live" ? <Failed error={error} onRetry={() => location.reload()} /> : <Cut />;
  };
}

/** In its place until it has come. */
export function LoadingPage() {
  const { state } = useConnection();
  return state === "offline" ? <Cut /> : <Loading />;
}

function Cut() {
  const t = useTranslations("shell");
  return (
    <div className={styles.state} role="status">
      <PageTitle name="not-loaded">{t("notLoaded")}</PageTitle>
    </div>
  );
}

/** A part of a page whose code is loaded when somebody first opens it. What is typed beside it is not theirs to lose. */
export function lazyPart<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Waiting: ComponentType = Loading,
): ComponentType<P> {
  let part: Promise<ComponentType<P>> | undefined;
  function Loaded(props: P) {
    part ??= load().catch(() => PartNotLoaded);
    const Part = use(part);
    return <Part {...props} />;
  }
  function LoadingPart() {
    const { state } = useConnection();
    return state === "offline" ? <PartNotLoaded /> : <Waiting />;
  }
  return function LazyPart(props: P) {
    return (
      <Suspense fallback={<LoadingPart />}>
        <Loaded {...props} />
      </Suspense>
    );
  };
}

/** The same, of what covers the page: nothing moves below it. */
export function lazyDialog<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  return lazyPart(load, () => null);
}

function PartNotLoaded() {
  const t = useTranslations("shell");
  const { state } = useConnection();
  return (
    <div className={styles.part} role="alert">
      <p className={styles.text}>{t(state === "live" ? "partNotLoaded" : "partCut")}</p>
      {state === "live" && <Button onClick={() => location.reload()}>{t("broken.reload")}</Button>}
    </div>
  );
}
