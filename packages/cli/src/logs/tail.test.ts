import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { tailCommand } from "./tail.ts";

const none = { agent: false, system: false, only: [], jobs: [] };
const once = { follow: false, lines: undefined, quiet: false };

describe("the command that follows logs in a VM", () => {
  it("is for all logs of jobs, unless some are named", () => {
    expect(tailCommand(none, { ...once, follow: true })).toContain("/var/vcap/sys/log/**/*.log");
    const some = tailCommand({ ...none, jobs: ["web"], only: ["a/*.err"] }, once);
    expect(some).toContain("/var/vcap/sys/log/a/*.err /var/vcap/sys/log/web/*.log");
    expect(some).not.toContain("**");
    expect(tailCommand({ ...none, agent: true }, { ...once, lines: 5, quiet: true })).toContain(
      "tail -n 5 -q",
    );
  });

  it("runs nothing that is in a glob", () => {
    const command = tailCommand({ ...none, only: ["x'; touch $(id) `id` ) \n*"] }, once);
    const asRoot = command.replace('"$(id -u)" = 0', "0 = 0");
    let said = "";
    try {
      execFileSync("bash", ["-c", asRoot], { stdio: ["ignore", "pipe", "pipe"] });
    } catch (error) {
      said = String((error as { readonly stderr: Buffer }).stderr);
    }
    expect(said).toBe("no such logs\n");
  });
});
