// Bundles the web console: one page, one script, one style sheet and an icon, for the Director to serve.
import { copyFile, mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const CONSOLE = join(root, "packages/console");

export async function bundleConsole(to) {
  await mkdir(to, { recursive: true });
  await build({
    entryPoints: [join(CONSOLE, "src/main.tsx")],
    outfile: join(to, "page.mjs.unfinished"),
    bundle: true,
    minify: true,
    format: "esm",
    target: ["chrome117", "firefox119", "safari17.4"],
    conditions: ["source"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
  });
  await rename(join(to, "page.mjs.unfinished"), join(to, "page.mjs"));
  for (const file of ["page.html", "page.css", "icon.svg"])
    await copyFile(join(CONSOLE, "src/static", file), join(to, file));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  await bundleConsole(process.argv[2] ?? join(CONSOLE, "dist/page"));
