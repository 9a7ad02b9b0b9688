/** What an agent says, as Markdown: no pictures, no HTML, and links that show where they lead. Loaded when needed. */
import { isValidElement, memo, type ReactNode } from "react";
import Markdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import chips from "@/text/revealed.module.css";
import { addressOf, isItself, isSpelledOut } from "./address";
import styles from "./markdown.module.css";
import { revealMarkup } from "./reveal-markup";
import { spellOut, wholeOrPlain } from "./whole";

const COMPONENTS: Components = {
  a: ({ href, children }) => <Leading href={href}>{children}</Leading>,
  img: ({ alt, src }) => <Picture alt={alt ?? ""} src={typeof src === "string" ? src : ""} />,
  mark: ({ children, ...rest }) => <Chip properties={rest as Record<string, unknown>}>{children}</Chip>,
  table: ({ children }) => <Table>{children}</Table>,
  // Headings of the page are ours.
  h1: Heading,
  h2: Heading,
  h3: Heading,
  h4: Heading,
  h5: Heading,
  h6: Heading,
};

/** Where somebody decides by it: no link acts, and nothing that is written is left out. */
const INERT: Components = {
  ...COMPONENTS,
  a: ({ href, children }) => <Named href={href ?? ""}>{children}</Named>,
};

interface Props {
  text: string;
  isInert?: boolean;
}

const AgentMarkdown = memo(function AgentMarkdown({ text, isInert = false }: Props) {
  return (
    <div className={styles.markdown}>
      <Markdown
        remarkPlugins={isInert ? [remarkGfm, spellOut] : [remarkGfm]}
        rehypePlugins={isInert ? [wholeOrPlain, revealMarkup] : [revealMarkup]}
        urlTransform={(url) => url}
        components={isInert ? INERT : COMPONENTS}
      >
        {text}
      </Markdown>
    </div>
  );
});

export default AgentMarkdown;

function Heading({ children }: { children?: ReactNode }) {
  return (
    <p className={styles.heading}>
      <strong>{children}</strong>
    </p>
  );
}

/** It scrolls by itself where it is wider than the page. */
function Table({ children }: { children: ReactNode }) {
  const t = useTranslations("chat");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard
    <section className={styles.wide} aria-label={t("table")} tabIndex={0}>
      <table>{children}</table>
    </section>
  );
}

/** A link with its whole address. What is no address of the web stays text. */
function Leading({ href, children }: { href: string | undefined; children: ReactNode }) {
  const address = addressOf(href);
  if (address === null) {
    return (
      <>
        {children} {href && !href.startsWith("#") && <Address text={href} />}
      </>
    );
  }
  return (
    <>
      <a href={address} target="_blank" rel="noopener noreferrer">
        {children}
      </a>
      {!isSpelledOut(wordsOf(children), address) && (
        <>
          {" "}
          <Address text={address} />
        </>
      )}
    </>
  );
}

/** A link that is not to be followed, with its whole address. */
function Named({ href, children }: { href: string; children: ReactNode }) {
  return (
    <>
      {children} {!isItself(wordsOf(children), href) && <Address text={href} />}
    </>
  );
}

function Address({ text }: { text: string }) {
  return (
    <span className={styles.address}>
      (<Revealed text={text} />)
    </span>
  );
}

/** Nothing is fetched from where an agent points. */
function Picture({ alt, src }: { alt: string; src: string }) {
  const t = useTranslations("chat");
  return (
    <span className={styles.picture}>
      [{t("image")}: <Revealed text={alt} />] <Address text={src} />
    </span>
  );
}

function Chip({ properties, children }: { properties: Record<string, unknown>; children: ReactNode }) {
  const t = useTranslations("text");
  const hidden = properties["data-hidden"];
  if ("data-plain" in properties) return <span className={styles.plain}>{t("plain")}</span>;
  if (typeof hidden === "string") {
    return (
      <span className={chips.chip} title={t("hidden", { code: hidden })}>
        {children}
      </span>
    );
  }
  const count = Number(properties["data-blanks"]);
  return <span className={chips.chip}>‹{t("blanks", { count })}›</span>;
}

function wordsOf(children: ReactNode): string {
  if (typeof children === "string") return children;
  if (Array.isArray(children)) return children.map(wordsOf).join("");
  return isValidElement<{ children?: ReactNode }>(children) ? wordsOf(children.props.children) : "";
}
