import { consoleIn } from "@slipway/director/api/console-files";
import type { Services } from "@slipway/director/api/services";
import { type Harness, startHarness } from "@slipway/director/api/testing/harness";
import { enqueue } from "@slipway/director/tasks/queue";
import type { NewTask } from "@slipway/director/tasks/task";
import { type Browser, openPage, type Page } from "@slipway/testkit/browser";
import { oncePerRun } from "@slipway/testkit/run";
import { bundleConsole } from "../../../../tools/console.mjs";

/** The page as it is built for users. */
export const builtConsole = (): Promise<string> =>
  oncePerRun("console", async (place) => {
    await bundleConsole(place);
    return place;
  });

export const startConsole = async (change: Partial<Services> = {}): Promise<Harness> =>
  await startHarness({ console: consoleIn(await builtConsole()), ...change });

/** Opens the page as a user. The place is what stands behind `#`. */
export async function signedIn(
  browser: Browser,
  { port }: Pick<Harness, "port">,
  {
    user = "admin",
    place = "/",
    ...look
  }: { user?: string; place?: string; width?: number; dark?: boolean } = {},
) {
  const opened = await openPage(browser, look);
  await opened.page.goto(`https://127.0.0.1:${port}/console#${place}`);
  await signIn(opened.page, user, `${user}-pw`);
  await opened.page.getByRole("button", { name: "Sign out" }).waitFor();
  return opened;
}

export async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** A task that runs, and whose outputs the test writes. */
export async function runningTask({ db }: Pick<Harness, "db">, more: Partial<NewTask> = {}) {
  const id = await enqueue(db, {
    type: "update_deployment",
    description: "create deployment",
    user: "admin",
    params: {},
    ...more,
  });
  await db
    .updateTable("tasks")
    .set({ state: "processing", started_at: new Date() })
    .where("id", "=", id)
    .execute();
  const sizes = new Map<string, number>();
  const write = async (type: string, text: string): Promise<void> => {
    const start = sizes.get(type) ?? 0;
    const data = Buffer.from(text);
    sizes.set(type, start + data.length);
    await db.insertInto("task_output").values({ task_id: id, type, start, data }).execute();
  };
  return {
    id,
    event: (line: object) => write("event", `${JSON.stringify(line)}\n`),
    call: (line: object) => write("conversation", `${JSON.stringify(line)}\n`),
    debug: (text: string) => write("debug", text),
    end: async (state: "done" | "error", result: string) => {
      await db
        .updateTable("tasks")
        .set({ state, result, finished_at: new Date() })
        .where("id", "=", id)
        .execute();
    },
  };
}
