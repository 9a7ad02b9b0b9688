import "@/design/tokens.css";
import "@/design/base.css";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "@/app";
import { Texts } from "@/i18n/provider";

// The live stream tells what changed; a failed load is tried again by whoever asked for it. What is done without a network
// fails at once: it would else be kept, and done when there is one again.
const client = new QueryClient({
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false }, mutations: { networkMode: "always" } },
});
const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <Texts>
          <App />
        </Texts>
      </QueryClientProvider>
    </StrictMode>,
  );
}
