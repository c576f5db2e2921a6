import { readdir } from "node:fs/promises";
import { eventually } from "@slipway/testkit/eventually";
import { describe, expect, it } from "vitest";
import type { Group } from "./testing/documents.ts";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

describe.runIf(await canPlay())(
  "deploys that wait, meet, are cancelled and killed, with the real CLI",
  () => {
    const world = openWorld();
    const web: readonly Group[] = [{ name: "web" }];

    /** A deploy that has come to a call which the gate holds; `end` is what the CLI said at last. */
    async function heldDeploy(deployment: string, method = "create_vm", groups: readonly Group[] = web) {
      const { bosh, gate } = world();
      const manifest = await world().manifest(deployment, ...groups);
      await gate.hold(method);
      const end = bosh.say("-d", deployment, "deploy", manifest);
      const call = await gate.held(method);
      const task = await eventually("the task of the deploy", async () => {
        const rows = await bosh.rows("tasks");
        return rows.find((row) => row.deployment === deployment)?.id;
      });
      return { end, task, manifest, call };
    }
    const vmsOfCloud = () => readdir(world().cloud("vms"));

    it("shows the lock and the task of a deploy that waits, and whom a second one waits for", async () => {
      await world().seed();
      const { bosh, gate } = world();
      const { end, task, manifest } = await heldDeploy("shop");
      expect(await bosh.rows("locks")).toEqual([
        {
          type: "deployment",
          resource: "shop",
          task_id: task,
          expires_at: expect.stringMatching(/ UTC \d{4}$/),
        },
      ]);
      const [row] = await bosh.rows("tasks");
      expect(row).toMatchObject({
        id: task,
        state: "processing",
        user: "admin",
        result: "",
        finished_at: "-",
      });
      expect((await bosh.rows("deployments")).map(({ name }) => name)).toEqual(["shop"]);
      const second = await bosh.refused("-d", "shop", "deploy", manifest);
      expect(second).toMatch(new RegExp(`deployment 'shop'.*task ${task}\\b.*since`));
      await gate.release("create_vm");
      expect((await end).code).toBe(0);
      expect(await bosh.rows("locks")).toEqual([]);
      expect(await world().instances("shop")).toMatchObject([{ state: "started", ips: `${world().net}.2` }]);
    });

    it("lets another deployment be deployed meanwhile", async () => {
      const { bosh, gate } = world();
      const { end } = await heldDeploy("second");
      await bosh.run("-d", "shop", "restart");
      await gate.release("create_vm");
      expect((await end).code).toBe(0);
      expect((await bosh.rows("deployments")).map(({ name }) => name)).toEqual(["second", "shop"]);
      await bosh.run("-d", "second", "delete-deployment");
    });

    it("cancels a deploy that waits for its CPI, and the next one goes on from there", async () => {
      const { bosh, gate } = world();
      const { end, task } = await heldDeploy("third");
      await bosh.run("cancel-task", task);
      const said = await end;
      expect(said.code).toBe(1);
      expect(said.text).toMatch(new RegExp(`Task ${task} cancelled`));
      expect(await bosh.rows("locks")).toEqual([]);
      expect((await bosh.rows("tasks", "--recent")).find(({ id }) => id === task)?.state).toBe("cancelled");
      expect(await bosh.refused("cancel-task", task)).toMatch(/400/);
      await gate.release("create_vm");
      await world().deploy("third", web);
      expect(await world().instances("third")).toMatchObject([{ state: "started", process_state: "" }]);
      await bosh.run("-d", "third", "delete-deployment");
      expect(await vmsOfCloud()).toHaveLength(1);
    });

    it.each(["create_vm", "create_disk", "attach_disk"])(
      "a Director that is killed while the CPI is at %s takes the deploy up again by itself",
      async (method) => {
        const { bosh, gate } = world();
        const db: readonly Group[] = [{ name: "db", disk: "small" }];
        const { end, task, call } = await heldDeploy("killed", method, db);
        await world().director.kill();
        await world().start();
        expect((await bosh.rows("tasks")).map(({ id, state }) => ({ id, state }))).toEqual([
          { id: task, state: "processing" },
        ]);
        // Now the call that has lost its Director goes on too.
        await gate.release(method);
        expect((await bosh.run("task", task)).text).toContain(`Task ${task} done`);
        await end;
        // It may take longer than all of that, and what it makes late belongs to no record.
        await gate.ended(call);
        expect((await bosh.rows("tasks", "--recent")).find(({ id }) => id === task)).toMatchObject({
          state: "done",
          result: "/deployments/killed",
        });
        const [only, ...others] = await world().instances("killed");
        expect(only).toMatchObject({ state: "started", process_state: "" });
        expect(others).toEqual([]);
        const { vm_cid: kept } = (await world().instances("shop"))[0] ?? {};
        expect((await vmsOfCloud()).sort()).toEqual([kept, only?.vm_cid].sort());
        const disks = await readdir(world().cloud("disks"));
        expect(disks).toEqual([only?.disk_cids]);

        const calls = await gate.calls();
        const { lines } = await world().deploy("killed", db);
        expect(lines.join("")).not.toMatch(/^[+-] /m);
        expect(await gate.calls()).toEqual(calls);
        await bosh.run("-d", "killed", "delete-deployment");
        await bosh.run("delete-disk", only?.disk_cids ?? "");
      },
    );

    it("says what a CPI that fails has said, and the next deploy converges", async () => {
      const { bosh, gate } = world();
      const manifest = await world().manifest("fifth", ...web);
      await gate.fail("create_vm", "the cloud is full");
      const refusal = await bosh.refused("-d", "fifth", "deploy", manifest);
      expect(refusal).toContain("the cloud is full");
      expect((await bosh.rows("-d", "fifth", "instances"))[0]).toMatchObject({
        instance: expect.stringMatching(/^web\//),
      });
      await gate.mend("create_vm");
      await bosh.run("-d", "fifth", "deploy", manifest);
      expect(await world().instances("fifth")).toMatchObject([{ state: "started", process_state: "" }]);
    });
  },
);
