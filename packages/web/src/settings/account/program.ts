/** What a browser or a program says of itself, in the few words by which its owner knows it. */

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\/\d/, "Edge"],
  [/\bOPR\/\d/, "Opera"],
  [/\bFirefox\/\d|\bFxiOS\/\d/, "Firefox"],
  [/\b(?:Headless)?Chrome\/\d|\bCriOS\/\d/, "Chrome"],
  [/\bVersion\/[\d.]+ (?:Mobile\/\w+ )?Safari\/\d/, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows NT\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

export interface Program {
  program: string;
  system: string;
}

/** `null`: it is no browser that is known here, and stands for itself. */
export function programOf(agent: string): Program | null {
  const program = nameIn(BROWSERS, agent);
  const system = nameIn(SYSTEMS, agent);
  return agent.startsWith("Mozilla/5.0 (") && program && system ? { program, system } : null;
}

function nameIn(known: typeof BROWSERS, agent: string): string | undefined {
  return known.find(([pattern]) => pattern.test(agent))?.[1];
}
