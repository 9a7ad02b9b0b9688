// `node build.mjs PACKAGES PAGE FILE`: a page with the packages of that folder as one file.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, input, file] = process.argv.slice(2);
const { rolldown } = await import(pathToFileURL(createRequire(`${process.cwd()}/`).resolve("rolldown")));
const bundle = await rolldown({
  input,
  platform: "browser",
  resolve: { modules: [`${packages}/node_modules`, "node_modules"] },
  transform: { define: { "process.env.NODE_ENV": '"production"' } },
  logLevel: "silent",
});
await bundle.write({ file, format: "iife" });
