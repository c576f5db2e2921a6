import { join } from "node:path";
import { errorText } from "@slipway/kernel/errors";
import { tempDir } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { scene } from "../deploy/testing/fakes.ts";
import { typedOptionsOf } from "../interpolate/testing/typed-options.ts";
import { CannotAskFor } from "../ui/errors.ts";
import { cloudCheck } from "./cloud-check.ts";
import { createRecoveryPlan } from "./create-recovery-plan.ts";

const offer = (...names: readonly string[]) => names.map((name) => ({ name, plan: `plan of ${name}` }));
const VM = {
  id: 10,
  type: "missing_vm",
  description: "VM is missing",
  resolutions: offer("ignore", "recreate_vm"),
};
const DISK = {
  id: 9,
  type: "mount_info_mismatch",
  description: "not mounted",
  resolutions: offer("ignore", "reattach_disk"),
};

async function check(
  options: Parameters<typeof typedOptionsOf>[0],
  { problems = [VM, DISK] as readonly object[], typed = undefined as string[] | undefined, yes = true } = {},
) {
  const { tools, heard } = scene({
    deployment: "shop",
    yes,
    answers: {
      "POST /deployments/shop/scans": 1,
      "GET /deployments/shop/problems": problems,
      "PUT /deployments/shop/problems": 2,
    },
  });
  const ask = async () => {
    const line = typed?.shift();
    if (line === undefined) throw CannotAskFor({ what: "it" });
    return line;
  };
  const run = cloudCheck.run(typedOptionsOf(options), { ...tools, ui: { ...tools.ui, ask } });
  const code = await run.catch((error: unknown) => error);
  const put = heard.requests.find(({ method }) => method === "PUT");
  return {
    code,
    heard,
    sent: put && (JSON.parse(String(put.body)) as { resolutions: object }).resolutions,
  };
}

describe("cloud-check", () => {
  it("looks, and says so when all is well", async () => {
    const { code, heard, sent } = await check({}, { problems: [] });
    expect(code).toBe(0);
    expect(heard.followed).toEqual([1]);
    expect(heard.tables[0]).toMatchObject({ content: "problems", rows: [] });
    expect(sent).toBeUndefined();
  });

  it("--report only lists the problems, by number, and fails", async () => {
    const { code, heard, sent } = await check({ report: true });
    expect(code).toMatchObject({ code: "CLI-047", message: "2 problems found" });
    expect(errorText(code)).toContain("next: Repair with `slipway -d shop cloud-check`.");
    const one = await check({ report: true }, { problems: [VM] });
    expect(one.code).toMatchObject({ message: "1 problem found" });
    expect(heard.tables[0]?.rows.map(([id]) => id)).toEqual(["9", "10"]);
    expect(sent).toBeUndefined();
  });

  it("--auto lets the Director choose the resolutions", async () => {
    const { code, heard, sent } = await check({ auto: true });
    expect(code).toBe(0);
    expect(sent).toEqual({ 9: null, 10: null });
    expect(heard.followed).toEqual([1, 2]);
  });

  it("--resolution applies where it is offered and ignores the other problems", async () => {
    expect((await check({ resolution: ["recreate_vm"] })).sent).toEqual({ 9: "ignore", 10: "recreate_vm" });
    const both = await check({ resolution: ["reattach_disk", "recreate_vm"] });
    expect(both.sent).toEqual({ 9: "reattach_disk", 10: "recreate_vm" });
  });

  it("asks for each, until the answer is one of the numbers", async () => {
    const { code, heard, sent } = await check({}, { typed: ["7", "x", "2", ""] });
    expect(code).toBe(0);
    expect(sent).toEqual({ 9: "reattach_disk", 10: "ignore" });
    expect(heard.lines).toEqual(expect.arrayContaining(["not mounted", "2: plan of reattach_disk"]));
  });

  it("does nothing without a terminal to ask on, or if the answer is no", async () => {
    const nobody = await check({});
    expect(nobody.code).toMatchObject({ code: "CLI-048" });
    const no = await check({ auto: true }, { yes: false });
    expect(no.code).toMatchObject({ code: "CLI-032" });
    expect([nobody.sent, no.sent]).toEqual([undefined, undefined]);
  });
});

it("create-recovery-plan without a terminal names the option that it has", async () => {
  const { tools } = scene({
    deployment: "shop",
    answers: { "POST /deployments/shop/scans": 1, "GET /deployments/shop/problems": [VM] },
  });
  const ask = async () => {
    throw CannotAskFor({ what: "it" });
  };
  const run = createRecoveryPlan.run(typedOptionsOf({}, ["/nonexistent/plan.yml"]), {
    ...tools,
    ui: { ...tools.ui, ask },
  });
  const text = errorText(
    await run.then(
      () => new Error("it went through"),
      (error: Error) => error,
    ),
  );
  expect(text).toContain("--resolution recreate_vm");
  expect(text).not.toContain("--auto");
});

it("create-recovery-plan names the file that cannot be written", async () => {
  const { tools } = scene({
    deployment: "shop",
    answers: { "POST /deployments/shop/scans": 1, "GET /deployments/shop/problems": [VM] },
  });
  const path = join(await tempDir(), "missing", "plan.yml");
  const run = createRecoveryPlan.run(typedOptionsOf({ resolution: ["recreate_vm"] }, [path]), tools);
  await expect(run).rejects.toMatchObject({
    code: "CLI-161",
    message: `${path} cannot be written: ENOENT`,
  });
});
