import type { ChannelEntry, ChannelKind } from "interlock-client/wire";
import { useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { useAnnounce } from "@/shell/announcer";
import { Revealed } from "@/text/revealed";
import { Read } from "../lists";
import notifications from "../notifications/notifications.module.css";
import lists from "../settings.module.css";
import { useDay } from "../use-day";
import { AddDialog } from "./add-dialog";
import { useChannels, useFailed, useKinds } from "./api";
import { RemoveDialog, TestDialog } from "./channel-dialogs";

/** What an admin has set up for people to be told on. */
export function ChannelsSection() {
  const t = useTranslations("settings.channels");
  const channels = useChannels();
  const kinds = useKinds();
  const kindOf = (one: ChannelEntry) => kinds.data?.kinds.find(({ kind }) => kind === one.kind);
  const place = useRef<HTMLDivElement>(null);
  return (
    <div ref={place} className={notifications.section}>
      <p className={lists.what}>{t("what")}</p>
      <Read query={kinds} none={t("off")} isEmpty={(found) => found.kinds.length === 0}>
        {(found) => <Add kinds={found.kinds.filter((one) => one.has_form)} />}
      </Read>
      <Read query={channels} none={t("none")} isEmpty={(found) => found.channels.length === 0}>
        {(found) => (
          <ul className={lists.list}>
            {found.channels.map((one) => (
              <Row
                key={one.id}
                channel={one}
                kind={kindOf(one)}
                onGone={() => place.current?.querySelector("button")?.focus()}
              />
            ))}
          </ul>
        )}
      </Read>
    </div>
  );
}

function Add({ kinds }: { kinds: readonly ChannelKind[] }) {
  const t = useTranslations("settings.channels");
  const announce = useAnnounce();
  const [isOpen, setOpen] = useState(false);
  const done = (name: string) => {
    announce(t("added", { name }));
    setOpen(false);
  };
  return (
    <p>
      <Button onClick={() => setOpen(true)}>{t("add")}</Button>
      {isOpen && <AddDialog kinds={kinds} onDone={done} onClose={() => setOpen(false)} />}
    </p>
  );
}

interface RowProps {
  channel: ChannelEntry;
  kind: ChannelKind | undefined;
  onGone: () => void;
}

function Row({ channel, kind, onGone }: RowProps) {
  const t = useTranslations("settings.channels");
  const day = useDay();
  return (
    <li className={lists.item}>
      <div className={lists.about}>
        <p className={lists.main}>
          <Revealed text={channel.name} />
          <span className={lists.badge}>{channel.kind}</span>
          {!kind && <span className={lists.badge}>{t("unusable")}</span>}
        </p>
        <p className={lists.facts}>
          <span>{t(channel.shows)}</span>
          {kind?.answers && <span>{t(channel.ceiling)}</span>}
          <span>{t("waiting", { count: channel.waiting })}</span>
          <span className={channel.failed ? lists.trouble : undefined}>{t("failed", { count: channel.failed })}</span>
          <span>
            {t.rich("by", {
              time: day(channel.created_at),
              who: () => <Revealed key="who" text={channel.created_by} />,
            })}
          </span>
        </p>
        {channel.failed > 0 && <Failures id={channel.id} />}
      </div>
      <Acts channel={channel} kind={kind} onGone={onGone} />
    </li>
  );
}

function Failures({ id }: { id: string }) {
  const t = useTranslations("settings.channels");
  const day = useDay();
  const [isOpen, setOpen] = useState(false);
  const failed = useFailed(id, isOpen);
  return (
    <details className={lists.old} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("why")}</summary>
      {isOpen && (
        <Read query={failed} none="" isEmpty={() => false}>
          {({ notices }) => (
            <ul className={notifications.plain}>
              {notices.map((one) => (
                <li key={one.id}>
                  {day(one.created_at)}: <Revealed text={one.last_error ?? t("cutOff")} />
                </li>
              ))}
            </ul>
          )}
        </Read>
      )}
    </details>
  );
}

function Acts({ channel, kind, onGone }: RowProps) {
  const t = useTranslations("settings.channels");
  const announce = useAnnounce();
  const [asked, setAsked] = useState<"test" | "remove" | null>(null);
  const { name } = channel;
  const close = () => setAsked(null);
  const of = (act: "test" | "remove") => ({
    "aria-label": t("of", { act: t(act), name }),
    children: t(act),
    onClick: () => setAsked(act),
  });
  const done = (said: "tested" | "removed") => () => {
    announce(t(said, { name }));
    close();
    // The row goes, and the buttons with it.
    if (said === "removed") requestAnimationFrame(onGone);
  };
  return (
    <div className={notifications.acts}>
      {kind && <Button {...of("test")} />}
      <Button {...of("remove")} />
      {asked === "test" && kind && <TestDialog {...{ channel, kind }} onDone={done("tested")} onClose={close} />}
      {asked === "remove" && <RemoveDialog channel={channel} onDone={done("removed")} onClose={close} />}
    </div>
  );
}
