import { lstat, readdir, readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { CannotTell, expectEqual, expectTrue } from "../expect.ts";
import { type Check, given } from "./check.ts";
import {
  applied,
  daemon,
  eventually,
  jobState,
  kill,
  noJobs,
  pidOf,
  reaches,
  runs,
  sha1,
  specOf,
  type TestJob,
  withJobs,
} from "./test-jobs.ts";

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

const namesIn = (path: string): Promise<string[]> => readdir(path).catch((): string[] => []);

const web: TestJob = { name: "web", files: { "config/web.yml": "port: 80\n", "bin/ctl": "#!/bin/bash\n" } };
const worker: TestJob = { name: "worker", files: { "config/deep/one": "1" } };
const golib = { name: "golib", files: { "lib/golib.txt": "a library" } };

/** The files of a job, as they are installed. */
async function treeOf(base: string, job: string): Promise<Record<string, string>> {
  const root = await realpath(join(base, "jobs", job));
  const found: Record<string, string> = {};
  const walk = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
      const name = join(below, entry.name);
      if (entry.isDirectory()) await walk(name);
      else if (entry.isFile())
        found[name] = `${await modeOf(join(root, name))} ${sha1(await readFile(join(root, name)))}`;
    }
  };
  await walk("");
  return Object.fromEntries(Object.entries(found).sort());
}

/** Jobs as files and as processes. */
export const JOB_CHECKS: readonly Check[] = [
  {
    id: "AGENT-JOB-001",
    number: 15,
    name: "prepare unpacks jobs and packages and leaves the specification alone",
    needs: ["base-dir"],
    run: async (context) => {
      const { agent, baseDir } = context;
      const base = given(baseDir);
      const before = await readFile(join(base, "bosh", "spec.json"), "utf8");
      const spec = await specOf(context, [web], { packages: [golib], version: "v15" });
      expectEqual(await agent.value("prepare", [spec]), "prepared", "prepare");
      const { sha1: digest, blobstore_id } = spec.rendered_templates_archive;
      const bundle = join(base, "data", "jobs", "web", sha1(`v15-${digest}`));
      expectTrue(await exists(bundle), `there is no ${bundle}`);
      expectTrue(!(await exists(join(base, "jobs", "web"))), "the job is linked already");
      expectEqual(await readFile(join(base, "bosh", "spec.json"), "utf8"), before, "spec.json");
      const blob = join(base, "data", "sensitive_blobs", blobstore_id);
      expectTrue(!(await exists(blob)), "the archive's blob is still there");
    },
  },
  {
    id: "AGENT-JOB-002",
    number: 16,
    name: "a full apply links jobs and packages, with upstream's modes and log directories",
    needs: ["base-dir"],
    run: async (context) => {
      const options = { packages: [golib], version: "v16" };
      await withJobs(
        context,
        [web],
        async (base) => {
          const bundles = await realpath(join(base, "data", "jobs", "web"));
          const job = await realpath(join(base, "jobs", "web"));
          expectTrue(job.startsWith(`${bundles}/`), `jobs/web leads to ${job}`);
          const text = await readFile(join(base, "packages", "golib", "lib", "golib.txt"), "utf8");
          expectEqual(text, "a library", "a file of the package");
          const inside = await realpath(join(base, "jobs", "web", "packages", "golib"));
          expectEqual(
            inside,
            await realpath(join(base, "packages", "golib")),
            "the job's link to its package",
          );
          expectEqual(await modeOf(job), "750", "mode of the job");
          expectEqual(await modeOf(join(job, "config", "web.yml")), "640", "mode of a file");
          expectEqual(await modeOf(join(job, "bin", "ctl")), "750", "mode of a program");
          for (const kind of ["log", "run"])
            expectEqual(await modeOf(join(base, "sys", kind, "web")), "770", `mode of sys/${kind}/web`);
          expectEqual(await modeOf(join(base, "data", "web")), "770", "mode of data/web");
          expectEqual(await namesIn(join(base, "monit", "job")), [], "monit/job before start");
        },
        options,
      );
    },
  },
  {
    id: "AGENT-JOB-003",
    number: 17,
    name: "an archive with and one without a leading ./ install the same tree",
    needs: ["base-dir"],
    run: async (context) => {
      const trees: Record<"web" | "worker", Record<string, string>>[] = [];
      for (const [prefix, version] of [
        ["", "plain"],
        ["./", "dotted"],
      ])
        await withJobs(
          context,
          [web, worker],
          async (base) => {
            trees.push({ web: await treeOf(base, "web"), worker: await treeOf(base, "worker") });
          },
          { prefix: `${prefix}`, version: `${version}` },
        );
      expectEqual(Object.keys(trees[0]?.web ?? {}), ["bin/ctl", "config/web.yml", "monit"], "files of web");
      expectEqual(Object.keys(trees[0]?.worker ?? {}), ["config/deep/one", "monit"], "files of worker");
      expectEqual(trees[1], trees[0], "the tree of the archive with ./");
    },
  },
  {
    id: "AGENT-JOB-004",
    number: 18,
    name: "an apply that leaves out a job or package takes its link and bundle away",
    needs: ["base-dir"],
    run: async (context) => {
      const base = given(context.baseDir);
      await applied(context, [web, worker], { packages: [golib], version: "v18" });
      await applied(context, [web], { version: "v18b" });
      try {
        for (const path of ["jobs/worker", "packages/golib", "data/jobs/worker", "data/packages/golib"])
          expectEqual(
            (await lstat(join(base, path)).catch(() => undefined))?.isDirectory() === true
              ? await namesIn(join(base, path))
              : [],
            [],
            path,
          );
        expectTrue(!(await exists(join(base, "jobs", "worker"))), "jobs/worker is still there");
        expectTrue(!(await exists(join(base, "packages", "golib"))), "packages/golib is still there");
        expectTrue(await exists(join(base, "jobs", "web")), "jobs/web is gone");
      } finally {
        await noJobs(context);
      }
    },
  },
  {
    id: "AGENT-JOB-005",
    number: 19,
    name: "start writes the monitor's files, the last job first, and jobs come to run",
    needs: ["base-dir"],
    run: async (context) => {
      const { agent, baseDir } = context;
      const jobs = ["web", "worker"].map((name) => daemon(given(baseDir), name));
      await withJobs(context, jobs, async (base) => {
        expectEqual(await agent.send("start"), { value: "started" }, "start");
        expectEqual(
          (await namesIn(join(base, "monit", "job"))).sort(),
          ["0000_worker.monitrc", "0001_web.monitrc"],
          "monit/job",
        );
        await reaches(agent, "running");
        for (const name of ["web", "worker"])
          expectTrue(await runs(await pidOf(agent, base, name)), `${name} does not run`);
        const { processes } = (await agent.value("get_state")) as { processes?: { name: string }[] };
        expectEqual(processes?.map(({ name }) => name).sort(), ["web", "worker"], "processes");
      });
    },
  },
  {
    id: "AGENT-JOB-006",
    number: 20,
    name: "stop waits for the processes from protocol 3 on, and not before it",
    needs: ["base-dir"],
    run: async (context) => {
      const { agent, baseDir } = context;
      await withJobs(context, [daemon(given(baseDir), "web", true)], async (base) => {
        await agent.value("start");
        await reaches(agent, "running");
        const first = await pidOf(agent, base, "web");
        expectEqual(await agent.value("stop"), "stopped", "stop");
        expectTrue(!(await runs(first)), "the process still runs");
        expectEqual(await jobState(agent), "stopped", "job_state");
        await agent.value("start");
        await reaches(agent, "running");
        const second = await pidOf(agent, base, "web");
        expectEqual(await agent.value("stop", [], 0), "stopped", "stop of protocol 0");
        expectTrue(await runs(second), "stop of protocol 0 has waited for the process");
        await eventually("its end", agent, async () => ((await runs(second)) ? undefined : true));
      });
    },
  },
  {
    id: "AGENT-JOB-007",
    number: 21,
    name: "a killed process is brought back",
    needs: ["base-dir"],
    run: async (context) => {
      const { agent, baseDir } = context;
      await withJobs(context, [daemon(given(baseDir), "web")], async (base) => {
        await agent.value("start");
        await reaches(agent, "running");
        const before = await pidOf(agent, base, "web");
        kill(before);
        const after = await eventually("another process", agent, async () => {
          const pid = await pidOf(agent, base, "web");
          return pid !== before && (await runs(pid)) ? pid : undefined;
        });
        await reaches(agent, "running");
        expectEqual(await pidOf(agent, base, "web"), after, "the process");
      });
    },
  },
  {
    id: "AGENT-JOB-008",
    number: 21,
    part: "N",
    name: "a killed process is told by one alert of severity 1",
    needs: ["nats", "health-monitor", "nats-base-dir"],
    run: async (context) => {
      const bus = given(context.nats);
      const own = { ...context, agent: bus, baseDir: context.natsBaseDir };
      await withJobs(own, [daemon(given(own.baseDir), "web")], async (base) => {
        await bus.value("start");
        await reaches(bus, "running");
        const begun = bus.clock.monotonic();
        const pid = await pidOf(bus, base, "web");
        if (!(await runs(pid))) throw new CannotTell("the processes of the jobs cannot be seen from here");
        kill(pid);
        const { text } = await bus.monitorMessage("alert", begun, 60_000);
        const alert = JSON.parse(text) as { severity: unknown; title: string; id: unknown };
        expectEqual(alert.severity, 1, "severity");
        expectTrue(alert.title.startsWith("web "), `title: ${alert.title}`);
        expectTrue(typeof alert.id === "string", "it has no id");
        await reaches(bus, "running");
      });
    },
  },
];
