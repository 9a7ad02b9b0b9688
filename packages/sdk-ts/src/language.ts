/** The language of whoever runs a program, as their system or their browser says it. */

const TAG = /^([a-z]{2,3})(?:[_-]([a-z]{2}))?(?=[.@]|$)/i;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What to send as `Accept-Language`: of a browser's, or of LC_ALL, LC_MESSAGES and LANG; undefined where they name none.
 *
 * A server speaks English and Chinese: who reads neither is better served by English.
 */
export function language(environment: Environment | undefined = environmentHere()): string | undefined {
  const said = environment
    ? environment.LC_ALL || environment.LC_MESSAGES || environment.LANG || ""
    : (globalThis.navigator?.language ?? "");
  const [, spoken = "", place] = TAG.exec(said) ?? [];
  if (!spoken) return undefined;
  const tag = place ? `${spoken}-${place}` : spoken;
  return /^(en|zh)$/i.test(spoken) ? tag : `${tag}, en;q=0.5`;
}

/** None in a browser. */
function environmentHere(): Environment | undefined {
  return (globalThis as { process?: { env?: Environment } }).process?.env;
}
