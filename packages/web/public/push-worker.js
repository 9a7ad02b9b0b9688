/**
 * What the browser runs when the server pushes something: it shows it, and opens its page when it is clicked. It
 * answers no request of a page, keeps nothing, and calls nothing.
 */
self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("push", (event) => event.waitUntil(show(event.data)));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.path));
});

async function show(data) {
  const told = read(data);
  // Browsers want something shown for each push. By the tag it takes the place of what was said of the same before.
  await self.registration.showNotification(told.title, {
    body: told.body,
    tag: told.tag,
    silent: told.end,
    renotify: false,
    icon: "/icon.svg",
    data: { path: told.path },
  });
}

function read(data) {
  try {
    const { title, body, tag, end, url } = data.json();
    const path = url ? new URL(url).pathname : "/";
    return { title: String(title), body: String(body ?? ""), tag: String(tag), end: Boolean(end), path };
  } catch {
    return { title: "Interlock", body: "", tag: "interlock", end: false, path: "/" };
  }
}

/** Always a page of this server. */
async function open(path = "/") {
  const target = new URL(path, self.location.origin);
  if (target.origin !== self.location.origin) return;
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = windows.find((one) => new URL(one.url).pathname === target.pathname);
  if (there) await there.focus();
  else await self.clients.openWindow(target.href);
}
