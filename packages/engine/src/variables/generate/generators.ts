import type { Generator } from "./generator.ts";

/** By the type of a variable's definition. The keys are loaded when one is to be made. */
export const GENERATORS: Readonly<Record<string, () => Promise<Generator>>> = {
  password: async () => (await import("./password.ts")).password,
  rsa: async () => (await import("./rsa.ts")).rsa,
  ssh: async () => (await import("./ssh.ts")).ssh,
  certificate: async () => (await import("./certificate.ts")).certificate,
};

/** What a config server makes, too; the `bosh` CLI does not. */
export const CONFIG_SERVER_GENERATORS: typeof GENERATORS = {
  ...GENERATORS,
  user: async () => (await import("./user.ts")).user,
};
