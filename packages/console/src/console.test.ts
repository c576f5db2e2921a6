import type { Answered } from "@slipway/director/api/services";
import type { Harness } from "@slipway/director/api/testing/harness";
import { seedShop, WEB_0, WEB_1 } from "@slipway/director/api/testing/seed";
import { healthSettings } from "@slipway/director/health/settings";
import type { HealthSnapshot, InstanceHealth } from "@slipway/director/health/snapshot";
import type { GroupName, InstanceUuid } from "@slipway/engine/model/names";
import { canBrowse, openBrowser } from "@slipway/testkit/browser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runningTask, signedIn, signIn, startConsole } from "./testing/console.ts";

const AT = Date.parse("2026-01-31T12:00:00Z");

const WELL: InstanceHealth = {
  watched: {
    deployment: "shop",
    uuid: WEB_0 as InstanceUuid,
    group: "web" as GroupName,
    index: 0,
    state: "started",
    ignore: false,
    errand: false,
    paused: false,
    updateCompleted: true,
    deployed: true,
    vm: undefined,
    resurrection: undefined,
  },
  verdict: { status: "healthy", findings: [], since: AT, toHeal: false, suspect: false },
  since: AT,
  known: undefined,
  action: undefined,
};

const FAILING: InstanceHealth = {
  ...WELL,
  verdict: {
    ...WELL.verdict,
    status: "failing",
    findings: [{ status: "failing", what: "process nginx does not run: exit code 3" }],
  },
};

const SNAPSHOT: HealthSnapshot = {
  startedAt: AT,
  at: AT,
  settings: healthSettings(),
  paused: false,
  held: undefined,
  meltdowns: new Map(),
  heard: undefined,
  upkeep: [],
  resurrections: 0,
  instances: [WELL],
};

describe.runIf(canBrowse())("the console in a browser", () => {
  const browser = openBrowser();
  let api: Harness;
  let snapshot = SNAPSHOT;
  const answered: Answered[] = [];
  beforeAll(async () => {
    api = await startConsole({
      health: { snapshot: () => snapshot },
      onAnswered: (one) => answered.push(one),
    });
    await seedShop(api.db);
  });
  afterAll(() => api.close());

  const open = (options: Parameters<typeof signedIn>[2]) => signedIn(browser(), api, options);

  describe("signing in", () => {
    it("refuses a wrong password, and keeps the right one out of cookies, storage and the address", async () => {
      const { page, close, errors } = await open({});
      await page.getByRole("button", { name: "Sign out" }).click();
      await signIn(page, "admin", "wrong");
      await expect.poll(() => page.getByRole("alert").textContent()).toContain("does not know this name");
      await signIn(page, "admin", "admin-pw");
      await page.getByRole("heading", { name: "Deployments" }).waitFor();
      expect(await page.context().cookies()).toEqual([]);
      expect(await page.evaluate("[...Object.keys(localStorage), ...Object.keys(sessionStorage)]")).toEqual(
        [],
      );
      expect(page.url()).not.toContain("pw");
      expect(errors).toEqual([]);
      await close();
    });

    it("ends with the page: neither a reload nor going back after signing out shows anything", async () => {
      const { page, close } = await open({ place: "/deployments/shop" });
      await page.getByRole("option", { name: /web\/0/ }).waitFor();
      await page.reload();
      await page.getByRole("button", { name: "Sign in" }).waitFor();
      expect(await page.locator("body").textContent()).not.toContain("web/0");
      await signIn(page, "admin", "admin-pw");
      // The place in the address is where the user goes on.
      await page.getByRole("option", { name: /web\/0/ }).waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.goBack();
      await page.goForward();
      await page.getByRole("button", { name: "Sign in" }).waitFor();
      expect(await page.locator("body").textContent()).not.toContain("web/0");
      await close();
    });

    it("asks again when the Director does not accept the password any more", async () => {
      const { page, close } = await open({ place: "/deployments/shop" });
      // What a Director answers whose users were changed.
      await page.route("**/deployments/shop/instances", (route) =>
        route.fulfill({
          status: 401,
          headers: { "www-authenticate": 'Basic realm="BOSH Director"' },
          body: "",
        }),
      );
      await expect
        .poll(() => page.getByRole("alert").textContent())
        .toBe("The Director does not accept these credentials any more.");
      await close();
    });

    it("sends credentials by script only: a request of the browser itself has none", async () => {
      const { page, close } = await open({});
      // As a form or an image of another site would ask. The page itself never asks for locks.
      await page.evaluate("void fetch('/locks', { credentials: 'include', mode: 'no-cors' })");
      const asked = () => answered.filter(({ path }) => path === "/locks");
      await expect.poll(asked).toMatchObject([{ status: 401, user: undefined }]);
      await close();
    });
  });

  describe("the overview", () => {
    it("says what is wrong, why and what to type, and goes on when it was put right", async () => {
      snapshot = { ...SNAPSHOT, instances: [FAILING] };
      const { page, close, errors } = await open({});
      const wrong = page.getByRole("region", { name: /What is wrong now/ });
      await wrong.getByText("shop: web/0 is failing").waitFor();
      await wrong.getByText("process nginx does not run: exit code 3").waitFor();
      await wrong.getByText("slipway -d shop logs web/0", { exact: true }).waitFor();
      snapshot = SNAPSHOT;
      await wrong.getByText("Nothing.").waitFor();
      await page.getByText("1 healthy").waitFor();
      expect(errors).toEqual([]);
      await close();
    });

    it("fits a narrow screen and follows the dark scheme", async () => {
      const narrow = await open({ width: 380, dark: true });
      await narrow.page.getByRole("link", { name: "shop" }).waitFor();
      const tooWide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await narrow.page.evaluate(tooWide)).toBe(0);
      const paper = "getComputedStyle(document.documentElement).backgroundColor";
      const dark = await narrow.page.evaluate(paper);
      await narrow.page.emulateMedia({ colorScheme: "light" });
      expect(await narrow.page.evaluate(paper)).not.toBe(dark);
      await narrow.close();
    });
  });

  describe("a deployment", () => {
    it("shows an instance with its addresses, versions and disk hint, without secrets", async () => {
      const { page, close, errors } = await open({ place: `/deployments/shop/instances/${WEB_0}` });
      const detail = page.getByRole("region", { name: "web/0" });
      await detail.getByText("10.0.0.2", { exact: true }).waitFor();
      await detail.getByText("CPI API version 2, stemcell 3, settings by user-data").waitFor();
      await detail.getByText("/dev/sdc").waitFor();
      expect(await page.content()).not.toContain("canary-of-the-hint");
      expect(errors).toEqual([]);
      await close();
    });

    it("is used by keys alone", async () => {
      const { page, close } = await open({ place: "/deployments/shop" });
      await page.getByRole("option", { name: /web\/0/ }).waitFor();
      await page.getByRole("listbox").focus();
      // A heading stands above the instances.
      for (const key of ["Home", "ArrowDown", "Enter"]) await page.keyboard.press(key);
      await page.getByRole("region", { name: "web/0" }).waitFor();
      expect(page.url()).toContain(WEB_0);
      for (const key of ["End", "Enter"]) await page.keyboard.press(key);
      await expect.poll(() => page.url()).toContain(WEB_1);
      await close();
    });

    it("shows 10,000 instances with only those in sight in the document", async () => {
      const { page, close } = await open({});
      const instances = Array.from({ length: 10_000 }, (_, index) => ({
        ...{ job: index < 9000 ? "web" : "db", index, id: `id-${index}`, az: `z${index % 3}` },
        ips: [`10.0.${index >> 8}.${index & 255}`],
      }));
      await page.route("**/deployments/shop/instances", (route) => route.fulfill({ json: instances }));
      await page.goto(`${page.url().split("#")[0]}#/deployments/shop`);
      await page.getByText("10,000 instances", { exact: true }).waitFor();
      expect(await page.getByRole("option").count()).toBeLessThan(100);
      await page.getByRole("listbox").focus();
      await page.keyboard.press("End");
      await page.getByRole("option", { name: "web/8999" }).waitFor();
      await page.getByRole("searchbox").fill("db/9555");
      await page.getByText("1 of 10,000 instances").waitFor();
      await page.getByRole("option", { name: "db/9555" }).waitFor();
      await close();
    });

    it("restarts an instance after a question, by the endpoint that the command uses", async () => {
      const { page, close } = await open({ place: `/deployments/shop/instances/${WEB_0}` });
      await page.getByRole("button", { name: "Restart" }).first().click();
      const question = page.getByRole("dialog");
      await question.getByText("slipway -d shop restart --no-converge web/0").waitFor();
      await question.getByRole("button", { name: "Not now" }).click();
      expect(api.queued).toEqual([]);
      await page.getByRole("button", { name: "Restart" }).first().click();
      await question.getByRole("button", { name: "Restart" }).click();
      await expect
        .poll(() => api.queued.map(({ type, user }) => `${type} ${user}`))
        .toEqual(["update_instance admin"]);
      await close();
    });
  });

  describe("a task", () => {
    const step = { stage: "Updating instance web", tags: [], total: 1, index: 1, task: `web/${WEB_0} (0)` };

    it("is followed live: steps, calls and their answers, and its end", async () => {
      const task = await runningTask(api, { deployment: "shop" });
      const { page, close, errors } = await open({ place: `/tasks/${task.id}` });
      await page.getByText("Nothing has begun yet.").waitFor();
      await task.event({ ...step, time: AT / 1000, state: "started" });
      const bar = page.getByRole("option", { name: /^web\/6f1c/ });
      await bar.getByText("running").waitFor();
      await task.call({
        ...{ at: AT + 100, ms: 250, to: "cpi:lab", instance: `web/${WEB_0}`, message: "create_vm" },
        ...{ request_id: "cpi-1", api_version: 2, request: ["ag-1"], answer: ["vm-77", {}] },
      });
      await page.getByRole("option", { name: /lab create_vm/ }).click();
      const detail = page.getByRole("region", { name: "Detail of lab create_vm" });
      await detail.getByRole("region", { name: "Answer" }).getByText("vm-77").waitFor();
      await task.event({ ...step, time: AT / 1000 + 3, state: "finished" });
      await bar.getByText("3.0 s").waitFor();
      await task.end("done", "/deployments/shop");
      await page.getByRole("heading", { name: `Task ${task.id} done` }).waitFor();
      expect(await page.getByRole("button", { name: "Cancel task" }).count()).toBe(0);
      // Afterwards it is replayed: at its beginning, the call was not known.
      await page.getByRole("slider", { name: "Replay" }).fill("0");
      await bar.getByText("running").waitFor();
      expect(await page.getByRole("option", { name: /lab create_vm/ }).count()).toBe(0);
      expect(errors).toEqual([]);
      await close();
    });

    it("says why it failed and what to type", async () => {
      const task = await runningTask(api, { deployment: "shop" });
      await task.event({ ...step, time: AT / 1000, state: "started" });
      await task.event({ ...step, time: AT / 1000 + 1, state: "failed", data: { error: "no space in z1" } });
      await task.end("error", "web/0: no space in z1");
      const { page, close } = await open({ place: `/tasks/${task.id}` });
      await page.getByText("web/0: no space in z1", { exact: true }).waitFor();
      await page.getByText(`slipway explain --task ${task.id}`, { exact: true }).waitFor();
      await page
        .getByRole("option", { name: /no space in z1/ })
        .first()
        .waitFor();
      await close();
    });

    it("is canceled after a question", async () => {
      const task = await runningTask(api);
      const { page, close } = await open({ place: `/tasks/${task.id}` });
      await page.getByRole("button", { name: "Cancel task" }).first().click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel task" }).click();
      await expect.poll(() => api.cancelled).toContain(task.id);
      await close();
    });

    it("shows a reader its steps, and neither calls nor a button that changes something", async () => {
      const task = await runningTask(api, { deployment: "shop" });
      await task.event({ ...step, time: AT / 1000, state: "started" });
      const { page, close } = await open({ user: "reader", place: `/tasks/${task.id}` });
      await page.getByRole("option", { name: /^web\/6f1c/ }).waitFor();
      await page.getByText("Calls to CPIs and agents are shown to administrators").waitFor();
      const buttons = () => page.getByRole("button").allTextContents();
      expect(await buttons()).toEqual(["Sign out"]);
      await page.goto(`${page.url().split("#")[0]}#/deployments/shop/instances/${WEB_0}`);
      await page.getByRole("region", { name: "web/0" }).waitFor();
      expect(await buttons()).toEqual(["Sign out"]);
      await page.goto(`${page.url().split("#")[0]}#/deployments/shop/variables`);
      await page.getByText("You may not see this").waitFor();
      await close();
    });
  });

  describe("what is hostile", () => {
    const SCRIPT = `"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

    it("is shown as text in names, results, steps, calls and logs", async () => {
      const task = await runningTask(api, { description: SCRIPT, deployment: "shop", user: SCRIPT });
      await task.event({ time: AT / 1000, stage: SCRIPT, task: SCRIPT, index: 1, state: "started" });
      await task.event({ time: AT / 1000, error: { code: 1, message: SCRIPT } });
      await task.call({ at: AT, ms: 1, to: "cpi:lab", message: SCRIPT, request: [SCRIPT], error: SCRIPT });
      await task.debug(`${SCRIPT}\n`);
      await task.end("error", SCRIPT);
      const { page, close } = await open({ place: `/tasks/${task.id}` });
      const row = (text: string) => page.getByRole("option").filter({ hasText: text });
      // Stages and calls arrive separately, and rows move when the later ones come.
      await row(`▾ ${SCRIPT}`).waitFor();
      await row(`lab ${SCRIPT}`).click();
      await page.getByRole("region", { name: "Request" }).waitFor();
      for (const place of [
        `/tasks/${task.id}/debug`,
        "/tasks",
        "/",
        `/deployments/${encodeURIComponent(SCRIPT)}`,
      ]) {
        await page.goto(`${page.url().split("#")[0]}#${place}`);
        await page.getByText("window.hacked=1").first().waitFor();
      }
      expect(await page.evaluate("window.hacked")).toBeUndefined();
      expect(await page.locator("img, script:not([src])").count()).toBe(0);
      await close();
    });

    it("would not run even if it came into the page: the policy refuses markup and inline script", async () => {
      const { page, close } = await open({});
      const refused = await page.evaluate(`(() => {
        const tries = [
          () => { document.body.innerHTML = "<img src=x onerror=window.hacked=1>"; },
          () => { document.createElement("script").text = "window.hacked=1"; },
        ];
        return tries.map((one) => { try { one(); return "done"; } catch (error) { return error.name; } });
      })()`);
      expect(refused).toEqual(["TypeError", "TypeError"]);
      expect(await page.evaluate("window.hacked")).toBeUndefined();
      await close();
    });
  });

  it("goes on by itself when the Director is restarted", async () => {
    const task = await runningTask(api, { deployment: "shop" });
    const { page, close, errors } = await open({ place: `/tasks/${task.id}` });
    await page.getByText("Nothing has begun yet.").waitFor();
    const banner = page.getByText("The Director does not answer.");
    await api.restart(async () => {
      await banner.waitFor();
      await task.event({ time: AT / 1000, stage: "Deleting", task: "web/0", index: 1, state: "started" });
      await task.end("done", "gone");
    });
    await page.getByRole("heading", { name: `Task ${task.id} done` }).waitFor();
    await page.getByRole("option", { name: /web\/0/ }).waitFor();
    await expect.poll(() => banner.count()).toBe(0);
    expect(errors).toEqual([]);
    await close();
  });
});
