import type { Exec } from "@slipway/kernel/exec";
import { describe, expect, it } from "vitest";
import { probe } from "./probe.ts";

/** A host that refuses, with these settings in /proc/sys. */
const refusing = (settings: Record<string, string>, isRoot = false, stderr = "unshare: unshare failed") => {
  const exec: Exec = async (program, args) => ({ program, args, code: 1, stdout: "", stderr });
  const read = async (path: string) => settings[path.replace("/proc/sys/", "").replaceAll("/", ".")] ?? "";
  return probe({ exec, isRoot }, read);
};

describe("a host that refuses namespaces", () => {
  it.each([
    ["user.max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"],
    ["kernel.unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"],
    [
      "kernel.apparmor_restrict_unprivileged_userns",
      "1",
      "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ],
  ])("names %s=%s and the command that allows them", async (setting, value, allow) => {
    expect(await refusing({ "user.max_user_namespaces": "9999", [setting]: value })).toMatchObject({
      ok: false,
      why: expect.stringContaining(setting),
      allow,
    });
  });

  it("reports an unknown reason in the words of the host", async () => {
    expect(await refusing({}, false, "unshare: Operation not permitted")).toMatchObject({
      ok: false,
      why: expect.stringContaining("Operation not permitted"),
      allow: expect.stringContaining("seccomp=unconfined"),
    });
  });

  it("is most likely a container if it refuses them even to root", async () => {
    expect(await refusing({}, true)).toMatchObject({ allow: expect.stringContaining("--cap-add SYS_ADMIN") });
  });

  it("says which package to install if the program is missing", async () => {
    const exec: Exec = () => Promise.reject(new Error("ENOENT"));
    expect(await probe({ exec, isRoot: true })).toMatchObject({ allow: "install the package util-linux" });
  });
});

describe("a host that allows namespaces", () => {
  const answering = (refused: (program: string, args: readonly string[]) => boolean): Exec => {
    return async (program, args) => ({
      program,
      args,
      code: refused(program, args) ? 1 : 0,
      stdout: "",
      stderr: "",
    });
  };

  it.each([
    ["root", true, () => false, { as: "root", users: "host" }],
    ["a user with a range", false, () => false, { as: "user", users: "range" }],
    ["a user without newuidmap", false, (program: string) => program === "sh", { as: "user", users: "root" }],
    [
      "a user whose range is refused",
      false,
      (_: string, args: readonly string[]) => args.includes("--map-auto"),
      { as: "user", users: "root" },
    ],
  ] as const)("says what sandboxes of %s have", async (_, isRoot, refused, expected) => {
    expect(await probe({ exec: answering(refused), isRoot })).toEqual({ ok: true, ...expected });
  });
});
