import { listProblems } from "@slipway/director/store/problems";
import type { NewTask } from "@slipway/director/tasks/task";
import { activeVm } from "@slipway/engine/model/records";
import { describe, expect, it } from "vitest";
import { taskOf } from "../crash/scenarios/tasks.ts";
import type { EndedTask } from "./testing/bench.ts";
import { jobsStage, onAsk, web } from "./testing/jobs-stage.ts";
import type { OutsideCall } from "./watch-clients.ts";

const { stage, run, done, task } = jobsStage();

const deploy = (port: number) =>
  task([
    { name: "web", instances: 2, jobs: [web({ port })] },
    { name: "empty", instances: 1 },
  ]);

/** The agent that is asked to run post-deploy; undefined for any other call. */
const postDeployOf = (call: OutsideCall) =>
  call.peer === "agent" && call.method === "run_script" && call.args[0] === "post-deploy"
    ? call.agentId
    : undefined;
const postDeploys = ({ calls }: Pick<EndedTask, "calls">) =>
  calls.map(postDeployOf).filter((agent) => agent !== undefined);

async function members() {
  const { instances } = await stage.bench.remembered();
  return instances
    .filter(({ group }) => group === "web")
    .sort((a, b) => a.index - b.index)
    .map((instance) => {
      const vm = activeVm(instance);
      if (vm === undefined) throw new Error("the instance has no VM");
      return { uuid: instance.uuid, vm };
    });
}

const ignore = async (uuid: string) => {
  await stage.bench.db.updateTable("instances").set({ ignore: true }).where("uuid", "=", uuid).execute();
};

describe("post-deploy scripts", () => {
  it("run in every instance with jobs after a deploy", async () => {
    expect(postDeploys(await done(deploy(80)))).toHaveLength(2);
  });

  it("do not run in an ignored instance, whose agent may be away", async () => {
    await done(deploy(80));
    const [first, second] = await members();
    await ignore(first?.uuid ?? "");
    expect(postDeploys(await done(deploy(81)))).toEqual([second?.vm.agentId]);
  });

  const lost = async (): Promise<NewTask> => {
    await done(deploy(80));
    const [first] = await members();
    stage.bench.world.vms.delete(first?.vm.cid ?? "");
    return taskOf("cck_scan_and_fix", { deployment: "shop", instances: [first?.uuid ?? ""] });
  };

  it("run in all instances after a resurrection", async () => {
    const ended = await done(await lost());
    expect(new Set(postDeploys(ended))).toEqual(new Set((await members()).map(({ vm }) => vm.agentId)));
  });

  it("run in all instances after cloud-check has recreated a VM", async () => {
    await done(deploy(80));
    const [first] = await members();
    stage.bench.world.vms.delete(first?.vm.cid ?? "");
    await done(taskOf("cck_scan", { deployment: "shop" }));
    const problems = await listProblems(stage.bench.db, "shop");
    expect(problems.map(({ type }) => type)).toEqual(["missing_vm"]);
    const resolutions = Object.fromEntries(problems.map(({ id }) => [id, "recreate_vm"]));
    const ended = await done(taskOf("cck_apply", { deployment: "shop", resolutions }));
    expect(new Set(postDeploys(ended))).toEqual(new Set((await members()).map(({ vm }) => vm.agentId)));
  });

  it("do not fail a resurrection because another agent is silent", async () => {
    const heal = await lost();
    const [, second] = await members();
    const interference = onAsk("run_script", (call, carryOut) =>
      postDeployOf(call) === second?.vm.agentId ? Promise.resolve({ silent: "away" }) : carryOut(),
    );
    await done(heal, { interference });
  });

  it("fail a resurrection when they fail", async () => {
    const interference = onAsk("run_script", (call, carryOut) =>
      postDeployOf(call) === undefined ? carryOut() : Promise.resolve({ exception: "exit 1" }),
    );
    expect(await run(await lost(), { interference })).toMatchObject({ state: "error" });
  });
});
