/** This browser as an address of Web Push: it is asked for on a click, and never before. */
import { segment } from "interlock-client/transport";
import { prefer, preferences } from "@/preferences/store";
import { remove } from "./transport";

const WORKER = "/push-worker.js";
/** No page is under it: the worker stands between none of them and the server. */
const SCOPE = "/push/";

export interface Subscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

interface Policies {
  createPolicy(name: string, rules: { createScriptURL: () => string }): { createScriptURL(url: string): unknown };
}

export function canSubscribe(): boolean {
  return globalThis.isSecureContext && "PushManager" in globalThis && "Notification" in globalThis;
}

/** `key` is the server's: with another one than before the browser gets a new address. */
export async function subscribe(key: string): Promise<Subscription> {
  const { pushManager } = await runWorker();
  const before = await pushManager.getSubscription();
  if (before && spelled(before.options.applicationServerKey) !== key) await before.unsubscribe();
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint = "", keys = {} } = made.toJSON();
  return { endpoint, keys: { p256dh: keys.p256dh ?? "", auth: keys.auth ?? "" } };
}

/** What is pushed to the address from now on comes back to the server as gone. */
export async function unsubscribe(): Promise<void> {
  prefer({ push: null });
  const registration = await navigator.serviceWorker?.getRegistration(SCOPE);
  const subscription = await registration?.pushManager.getSubscription();
  await subscription?.unsubscribe();
  await registration?.unregister();
}

/** Whoever signs out is not told at this browser any more. Signing out does not fail with what fails here. */
export async function leaveBrowser(): Promise<void> {
  const { push } = preferences();
  if (push === null) return;
  await Promise.allSettled([remove(`/api/v1/me/addresses/${segment(push.id)}`), unsubscribe()]);
}

/** Who was at this browser before, and did not sign out, is not told here beside the next one. */
export function keepBrowserOf(userId: string): void {
  const { push } = preferences();
  if (push !== null && push.person !== userId) void unsubscribe().catch(() => undefined);
}

async function runWorker(): Promise<ServiceWorkerRegistration> {
  const options = { scope: SCOPE, updateViaCache: "none" } as const;
  const registration = await navigator.serviceWorker.register(trusted() as string, options);
  const coming = registration.installing ?? registration.waiting;
  if (!registration.active && coming) await activated(coming);
  return registration;
}

function activated(worker: ServiceWorker): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = () => {
      if (worker.state === "activated") resolve();
      if (worker.state === "redundant") reject(new Error("the service worker could not be started"));
    };
    worker.addEventListener("statechange", look);
    look();
  });
}

let address: unknown;

/** The pages' policy lets this one script be run as a worker, whatever else is asked for. */
function trusted(): unknown {
  const { trustedTypes } = globalThis as { trustedTypes?: Policies };
  address ??= trustedTypes?.createPolicy("interlock-worker", { createScriptURL: () => WORKER }).createScriptURL(WORKER);
  return address ?? WORKER;
}

function spelled(key: ArrayBuffer | null): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(key ?? new ArrayBuffer(0))));
  return text.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
