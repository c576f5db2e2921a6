import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expectEqual, expectIncludes, expectTrue } from "../expect.ts";
import { type Check, type CheckContext, given } from "./check.ts";
import { runningId } from "./messages.ts";
import { eventually, notes, notesPath, runs, script, type TestJob, withJobs } from "./test-jobs.ts";

const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

const job = (name: string, scripts: Readonly<Record<string, string>>): TestJob => ({
  name,
  files: Object.fromEntries(Object.entries(scripts).map(([at, text]) => [`bin/${at}`, script(text)])),
});

/** Runs an errand that notes its own pid, cancels it, and hands on how it ended. */
async function cancelled(context: CheckContext, body: string): Promise<unknown> {
  const { agent, baseDir } = context;
  const base = given(baseDir);
  let result: unknown;
  const errand = job("errand", { run: `echo pid=$$ > '${notesPath(base, "errand")}'; ${body}` });
  await withJobs(context, [errand], async () => {
    const reply = await agent.send("run_errand", ["errand"]);
    const task = "value" in reply ? runningId(reply.value) : undefined;
    if (task === undefined) throw new Error("run_errand did not answer with a task");
    const pid = await eventually("the errand", agent, async () => {
      const seen = /pid=(\d+)/.exec(await notes(base, "errand"))?.[1];
      return seen === undefined ? undefined : Number(seen);
    });
    const begun = agent.clock.monotonic();
    expectEqual(await agent.value("cancel_task", [task]), "canceled", "cancel_task");
    expectTrue(agent.clock.monotonic() - begun < 1000, "cancel_task took longer than a second");
    result = await agent.value("get_task", [task]);
    await eventually("the end of the errand", agent, async () => ((await runs(pid)) ? undefined : true));
  });
  return result;
}

/** Checks of the scripts that jobs bring, apart from their processes. */
export const SCRIPT_CHECKS: readonly Check[] = [
  {
    id: "AGENT-SCRIPT-001",
    number: 22,
    name: "run_script counts the jobs whose script failed and appends to their logs",
    needs: ["base-dir"],
    run: async (context) => {
      const { agent } = context;
      const jobs = [
        job("good", { "post-deploy": "echo fine" }),
        job("bad", { "post-deploy": "echo wrong >&2; exit 3" }),
        job("none", {}),
      ];
      await withJobs(context, jobs, async (base) => {
        for (let time = 0; time < 2; time++)
          expectIncludes(
            await agent.failure("run_script", ["post-deploy", {}]),
            "1 of 2 post-deploy scripts failed. Failed Jobs: bad. Successful Jobs: good.",
          );
        const log = (name: string) => readFile(join(base, "sys", "log", name), "utf8");
        expectEqual(await log("good/post-deploy.stdout.log"), "fine\nfine\n", "stdout of good");
        expectEqual(await log("bad/post-deploy.stderr.log"), "wrong\nwrong\n", "stderr of bad");
        expectEqual(await agent.value("run_script", ["no-such-script", {}]), {}, "a script nobody has");
      });
    },
  },
  {
    id: "AGENT-SCRIPT-002",
    number: 23,
    name: "run_script hands its environment on, with a fixed PATH",
    needs: ["base-dir"],
    run: async (context) => {
      const { agent, baseDir } = context;
      const at = notesPath(given(baseDir), "web");
      const jobs = [job("web", { "pre-stop": `echo "$BOSH_VM_NEXT_STATE $PATH" > '${at}'` })];
      await withJobs(context, jobs, async (base) => {
        const env = { BOSH_VM_NEXT_STATE: "delete" };
        expectEqual(await agent.value("run_script", ["pre-stop", { env }]), {}, "run_script");
        expectEqual(await notes(base, "web"), `delete ${PATH}\n`, "environment");
      });
    },
  },
  {
    id: "AGENT-SCRIPT-003",
    number: 24,
    name: "drain scripts get their arguments and may ask to be called again",
    needs: ["base-dir"],
    run: async (context) => {
      const { agent, baseDir } = context;
      const at = notesPath(given(baseDir), "drained");
      const note = `echo "$* $BOSH_JOB_STATE $BOSH_JOB_NEXT_STATE" >> '${at}'`;
      const again = `[ $(wc -l < '${at}') -gt 1 ] && echo 0 || echo -1`;
      await withJobs(context, [job("drained", { drain: `${note}; ${again}; exit 1` })], async (base) => {
        const next = {
          configuration_hash: "another",
          persistent_disk: 5,
          packages: { added: { name: "added", version: "1", sha1: sha40, blobstore_id: "x" } },
        };
        expectEqual(await agent.value("drain", ["update", next]), 0, "drain");
        const called = (await notes(base, "drained")).trim().split("\n");
        expectEqual(
          called,
          [
            'job_changed hash_changed added {"persistent_disk":0} {"persistent_disk":5}',
            'job_check_status hash_unchanged {"persistent_disk":0}',
          ],
          "calls",
        );
      });
      await withJobs(context, [job("drained", { drain: "echo x" })], async () => {
        expectIncludes(await agent.failure("drain", ["shutdown", {}]), "drain scripts failed");
      });
      expectEqual(await agent.value("drain", ["update", {}]), 0, "drain without jobs");
    },
  },
  {
    id: "AGENT-SCRIPT-005",
    number: 27,
    name: "a cancelled errand ends by its signal",
    needs: ["base-dir"],
    run: async (context) => {
      const result = (await cancelled(context, "sleep 300 & wait")) as { exit_code?: unknown };
      expectEqual(result.exit_code, 143, "exit_code");
    },
  },
  {
    id: "AGENT-SCRIPT-006",
    number: 27,
    part: "b",
    name: "a cancelled errand that ignores its signal is killed after ten seconds",
    needs: ["base-dir"],
    run: async (context) => {
      const begun = context.agent.clock.monotonic();
      const stubborn = "trap '' TERM; while :; do sleep 0.1; done";
      const result = (await cancelled(context, stubborn)) as { exit_code?: unknown };
      expectEqual(result.exit_code, 137, "exit_code");
      expectTrue(context.agent.clock.monotonic() - begun > 9_000, "it was not given ten seconds");
    },
  },
  {
    id: "AGENT-SCRIPT-007",
    number: 28,
    name: "the exit code of an errand is a result, an unknown errand is an error",
    needs: ["base-dir"],
    run: async (context) => {
      const { agent } = context;
      const jobs = [
        job("first", { run: "echo out; echo err >&2; exit 7" }),
        job("second", { run: "kill -9 $$" }),
      ];
      await withJobs(context, jobs, async () => {
        const result = { stdout: "out\n", stderr: "err\n", exit_code: 7 };
        expectEqual(await agent.value("run_errand", ["first"]), result, "run_errand");
        expectEqual(await agent.value("run_errand"), result, "run_errand without a name");
        const killed = (await agent.value("run_errand", ["second"])) as { exit_code?: unknown };
        expectEqual(killed.exit_code, 137, "exit_code of one that was killed");
        expectIncludes(await agent.failure("run_errand", ["third"]), "Could not find errand third");
      });
      expectIncludes(
        await agent.failure("run_errand"),
        "At least one job template is required to run an errand",
      );
    },
  },
];

const sha40 = "a".repeat(40);
