import { webcrypto } from "node:crypto";

/** Loads the library for certificates as operators describe them. It takes 140 ms and more, so only variables pay for it. */
export async function x509() {
  await import("reflect-metadata");
  const library = await import("@peculiar/x509");
  library.cryptoProvider.set(webcrypto);
  return library;
}
