import type { Generator } from "./generator.ts";

/** Generators by the type of a variable's definition. Their code is loaded on first use. */
export const GENERATORS: Readonly<Record<string, () => Promise<Generator>>> = {
  password: async () => (await import("./password.ts")).password,
  rsa: async () => (await import("./rsa.ts")).rsa,
  ssh: async () => (await import("./ssh.ts")).ssh,
  certificate: async () => (await import("./certificate.ts")).certificate,
};

/** Generators of a config server, which makes more types than the `bosh` CLI. */
export const CONFIG_SERVER_GENERATORS: typeof GENERATORS = {
  ...GENERATORS,
  user: async () => (await import("./user.ts")).user,
};
