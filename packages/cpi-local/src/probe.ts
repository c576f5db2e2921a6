import { readFile } from "node:fs/promises";
import { type LocalTools, systemTools } from "./local-cloud.ts";
import { userFlags } from "./namespaces.ts";

export type Namespaces = { readonly ok: true } | SandboxRefusal;

export interface SandboxRefusal {
  readonly ok: false;
  /** Why sandboxes cannot be made. */
  readonly why: string;
  /** Command that would allow them, or what to do if there is no such command. */
  readonly allow: string;
}

export interface Allowed {
  readonly ok: true;
  readonly as: "root" | "user";
  /** Users in a sandbox: the host's, those of a range, or root only. */
  readonly users: "host" | "range" | "root";
}

type ReadText = (path: string) => Promise<string>;
type ProbeTools = Pick<LocalTools, "exec" | "isRoot">;

/** Tries the parts of a sandbox that a host may refuse: some let a user have namespaces, and refuse every mount in them. */
const TRY = "mount -n -t tmpfs slipway /tmp && mkdir /tmp/root && mount -n --rbind / /tmp/root";

/** Tries whether this host allows sandboxes. */
export async function probe(
  tools: ProbeTools = systemTools(),
  read: ReadText = readText,
): Promise<Allowed | SandboxRefusal> {
  const seen = await probeNamespaces(tools, read);
  if (!seen.ok) return seen;
  if (tools.isRoot) return { ok: true, as: "root", users: "host" };
  const range = (await userFlags(tools)).includes("--map-auto");
  return { ok: true, as: "user", users: range ? "range" : "root" };
}

export async function probeNamespaces(tools: ProbeTools, read: ReadText = readText): Promise<Namespaces> {
  if (process.platform !== "linux")
    return {
      ok: false,
      why: `this is ${process.platform}, and sandboxes are made of Linux namespaces`,
      allow: "run it on Linux, for example in a virtual machine",
    };
  const user = tools.isRoot ? [] : ["--user", "--map-root-user"];
  const flags = [...user, "--mount", "--pid", "--ipc", "--fork", "--propagation", "private"];
  const tried = await tools.exec("unshare", [...flags, "sh", "-c", TRY]).catch(() => undefined);
  if (tried === undefined)
    return {
      ok: false,
      why: "the program unshare is missing",
      allow: "install the package util-linux",
    };
  if (tried.code === 0) return { ok: true };
  return await reason(tools.isRoot, tried.stderr.trim().slice(-300), read);
}

async function reason(isRoot: boolean, said: string, read: ReadText): Promise<SandboxRefusal> {
  const setting = async (name: string) =>
    (await read(`/proc/sys/${name.replaceAll(".", "/")}`).catch(() => "")).trim();
  const set = (name: string, value: string) => `sudo sysctl -w ${name}=${value}`;
  if (isRoot)
    return {
      ok: false,
      why: `root may not make mount and pid namespaces here (${said || "no message"}), as in a container without the capability SYS_ADMIN`,
      allow:
        "start the container with --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined",
    };
  if ((await setting("user.max_user_namespaces")) === "0")
    return {
      ok: false,
      why: "user namespaces are switched off (user.max_user_namespaces is 0)",
      allow: set("user.max_user_namespaces", "15000"),
    };
  if ((await setting("kernel.unprivileged_userns_clone")) === "0")
    return {
      ok: false,
      why: "user namespaces are for root only (kernel.unprivileged_userns_clone is 0)",
      allow: set("kernel.unprivileged_userns_clone", "1"),
    };
  if ((await setting("kernel.apparmor_restrict_unprivileged_userns")) === "1")
    return {
      ok: false,
      why: "AppArmor takes all rights from user namespaces of ordinary users (kernel.apparmor_restrict_unprivileged_userns is 1)",
      allow: set("kernel.apparmor_restrict_unprivileged_userns", "0"),
    };
  return {
    ok: false,
    why: `a user namespace with mounts of its own is refused (${said || "no message"}), as by the seccomp profile of a container`,
    allow:
      "run as root, or start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined",
  };
}

const readText: ReadText = (path) => readFile(path, "utf8");
