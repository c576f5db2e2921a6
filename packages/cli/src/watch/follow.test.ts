import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeDirector, INFO, type SeenRequest } from "../testing/fake-director.ts";
import { type CliResult, runCli } from "../testing/run-cli.ts";

let director: FakeDirector;
let instances: object[];
let away: boolean;
let end: AbortController;

const WEB = { job: "web", index: 0, id: "6f1c", az: "z1", ips: ["10.0.0.2"], cid: "vm-1", expects_vm: true };
const HEALTHY = {
  ...{ deployment: "shop", instance_group: "web", index: 0, id: "6f1c", state: "started", health: "healthy" },
  ...{ problems: [], job_state: "running", processes: [], vitals: { disk: {} } },
};
let judged: object;

beforeEach(async () => {
  director = await FakeDirector.start();
  end = new AbortController();
  instances = [WEB];
  judged = HEALTHY;
  away = false;
  const answer = (document: () => unknown) => (seen: SeenRequest) => {
    if (away) return { cut: true };
    const body = JSON.stringify(document());
    const etag = `"${body.length}"`;
    if (seen.headers["if-none-match"] === etag) return { status: 304 };
    return { body, headers: { etag } };
  };
  director
    .json("GET /info", INFO)
    .on(
      "GET /tasks",
      answer(() => []),
    )
    .on(
      "GET /events",
      answer(() => []),
    )
    .on(
      "GET /deployments",
      answer(() => [{ name: "shop" }]),
    )
    .on(
      "GET /deployments/shop/instances",
      answer(() => instances),
    )
    .on("GET /deployments/shopp/instances", {
      status: 404,
      body: JSON.stringify({ code: 70000, description: "Deployment 'shopp' doesn't exist" }),
    })
    .on(
      "GET /health",
      answer(() => ({
        enabled: true,
        at: "2026-11-17T12:00:00Z",
        resurrection: { enabled: true, held: null },
        instances: [judged],
      })),
    );
});
afterEach(() => director.close());

function watching(...args: readonly string[]) {
  const env = {
    BOSH_ENVIRONMENT: director.url,
    BOSH_CA_CERT: director.ca,
    BOSH_CLIENT: "a",
    BOSH_CLIENT_SECRET: "b",
  };
  const ran = runCli(["watch", "--interval", "0.02", ...args], { env, stop: end.signal });
  return { ran };
}

async function over(ran: Promise<CliResult>): Promise<CliResult> {
  end.abort();
  return await ran;
}

const looks = () => director.asked("GET").filter((url) => url.startsWith("/health")).length;
/** Waits until the latest changes have been read. */
async function looked(): Promise<void> {
  const before = looks();
  await expect.poll(looks).toBeGreaterThan(before + 1);
}

describe("watch in a pipe", () => {
  it("prints a line for each change, and none where nothing changes", async () => {
    const { ran } = watching("-d", "shop");
    await looked();
    judged = { ...HEALTHY, health: "failing", problems: ["process nginx is failing"] };
    await looked();
    await looked();
    const { code, out } = await over(ran);
    expect(code).toBe(130);
    expect(out.split("\n").map((line) => line.slice(9))).toEqual([
      "shop: deployment seen",
      "shop web/0: running, 10.0.0.2, VM vm-1",
      "shop web/0: running -> failing, 10.0.0.2, VM vm-1, process nginx is failing",
      "",
    ]);
  });

  it("says idle of an errand that does not run, whether its health is known or not", async () => {
    const errand = { ...WEB, cid: null, ips: [], expects_vm: false, errand: true };
    instances = [errand, { ...errand, index: 1, id: "7a2d" }];
    judged = { ...HEALTHY, health: "idle" };
    const { ran } = watching("-d", "shop");
    await looked();
    const { out } = await over(ran);
    const states = out.split("\n").flatMap((line) => /web\/\d: .*/.exec(line) ?? []);
    expect(states).toEqual([expect.stringMatching(/^web\/0: idle/), expect.stringMatching(/^web\/1: idle/)]);
  });

  it("prints with --json a document for each change, at once", async () => {
    const { ran } = watching("--json");
    await looked();
    const { out } = await over(ran);
    const documents = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(documents).toMatchObject([
      { type: "deployment", deployment: "shop", change: "seen" },
      { type: "instance", instance: "web/6f1c", state: "running", vm_cid: "vm-1", ips: ["10.0.0.2"] },
    ]);
  });

  it("outlives a Director that goes away, says so once, and goes on when it is back", async () => {
    const { ran } = watching("-d", "shop");
    await looked();
    away = true;
    const asked = director.seen.length;
    // All tries of one request, and of the next.
    await expect.poll(() => director.seen.length).toBeGreaterThan(asked + 7);
    away = false;
    await looked();
    const { out } = await over(ran);
    expect(out.match(/does not answer/g)).toHaveLength(1);
    expect(out).toMatch(/the Director answers again\n$/);
  });

  it("sends documents that it has only once", async () => {
    const { ran } = watching("-d", "shop");
    await looked();
    await looked();
    await over(ran);
    const health = director.seen.filter(({ url }) => url.startsWith("/health"));
    expect(health.slice(1).every(({ headers }) => headers["if-none-match"] !== undefined)).toBe(true);
    // Recorded instances are not asked for again while nothing has happened.
    expect(director.asked("GET").filter((url) => url.endsWith("/instances"))).toHaveLength(1);
  });

  it("a deployment that is not there is refused at once", async () => {
    const { code, err } = await watching("-d", "shopp").ran;
    expect(code).toBe(1);
    expect(err).toContain("Deployment 'shopp' doesn't exist");
  });

  it("one that is deleted meanwhile is said to be gone, and is waited for", async () => {
    const { ran } = watching("-d", "shop");
    await looked();
    director.on("GET /health", {
      status: 404,
      body: JSON.stringify({ code: 70000, description: "Deployment 'shop' doesn't exist" }),
    });
    director.on("GET /events", {
      body: JSON.stringify([
        { id: "9", timestamp: 9, action: "delete", object_type: "deployment", deployment: "shop" },
      ]),
    });
    director.on("GET /deployments/shop/instances", {
      status: 404,
      body: JSON.stringify({ code: 70000, description: "Deployment 'shop' doesn't exist" }),
    });
    await looked();
    const { out } = await over(ran);
    expect(out).toContain("shop: deployment gone");
    expect(out).toContain("event 9: delete deployment");
  });

  it.each(["0", "-1", "soon", "100000"])("--interval %s is refused", async (interval) => {
    const { code, err } = await runCli(["watch", `--interval=${interval}`]);
    expect(code).toBe(2);
    expect(err).toContain("is not a number of seconds");
  });
});

it("a Director that knows no health still shows its instances", async () => {
  director.on("GET /health", { status: 404, body: "not found" });
  const { ran } = watching("-d", "shop");
  await expect
    .poll(() => director.asked("GET").filter((url) => url.startsWith("/tasks")).length)
    .toBeGreaterThan(1);
  const { out } = await over(ran);
  expect(out).toContain("this Director does not tell how instances are");
  expect(out).toContain("shop web/0: unknown, 10.0.0.2, VM vm-1");
});
