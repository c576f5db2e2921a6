import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { needs } from "./needs.ts";

export type { Browser, Page };

/** Debian's Chromium, or the program that `SLIPWAY_CHROMIUM` names. */
const program = (): string => process.env.SLIPWAY_CHROMIUM ?? "/usr/bin/chromium";

export const canBrowse = (): boolean => needs("chromium", existsSync(program()), `there is no ${program()}`);

/** Limit of what hangs: a browser that starts on a busy machine takes long. */
const PATIENT_MS = 120_000;

/** A browser for a whole test file: `const browser = openBrowser()`, then `browser()`. */
export function openBrowser(): () => Browser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: program(),
      timeout: PATIENT_MS,
      // Its own sandbox cannot be made by root, nor in a container.
      args: ["--no-sandbox", "--disable-dev-shm-usage"],
    });
  });
  afterAll(() => browser?.close());
  return () => {
    if (browser === undefined) throw new Error("the browser is opened before the first test");
    return browser;
  };
}

/** A page of a new profile that trusts every certificate. Collects what the page reports as an error. */
export async function openPage(
  browser: Browser,
  options: { readonly width?: number; readonly dark?: boolean } = {},
): Promise<{ readonly page: Page; readonly errors: string[]; close(): Promise<void> }> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: options.width ?? 1200, height: 900 },
    colorScheme: options.dark === true ? "dark" : "light",
  });
  context.setDefaultTimeout(PATIENT_MS);
  // Requests are sent by this process: a browser gives up those under way whenever any network interface of the machine
  // comes or goes, and suites that run beside this one make many.
  await context.route("**/*", async (route) => {
    const response = await route.fetch({ maxRedirects: 0, timeout: PATIENT_MS }).catch(() => undefined);
    // The page may be gone by now, or was closed meanwhile.
    if (response === undefined) await route.abort("connectionrefused").catch(() => undefined);
    else await route.fulfill({ response }).catch(() => undefined);
  });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  return { page, errors, close: () => context.close() };
}
