import { fileURLToPath } from "node:url";
import { bundle } from "@slipway/testkit/bundle";

/** A script that does nothing but read documents, made of the sources as they are now. */
export const workerScript = (): Promise<string> =>
  bundle({
    script: 'import { servesDocuments } from "./serve.ts"; servesDocuments();',
    in: fileURLToPath(new URL("..", import.meta.url)),
  });

/** Documents that take long, each by another way. */
export const COSTLY: Readonly<Record<string, string>> = {
  "many keys": Array.from({ length: 12_000 }, (_, i) => `k${i}: 1`).join("\n"),
  "many items": `a: [${"x, ".repeat(60_000)}x]`,
  "merges of merges": merges(9),
  "empty keys": ": ".repeat(15_000),
  "a long number": `a: 0x${"0".repeat(2_000_000)}z`,
  "one string at the end of a long way": `${"{a: ".repeat(190)}${"x".repeat(500_000)}${"}".repeat(190)}`,
};

function merges(depth: number): string {
  const lines = ["a0: &a0 {x: 1, y: 2, z: 3}"];
  for (let i = 1; i <= depth; i++)
    lines.push(
      `a${i}: &a${i} {<<: [${Array(6)
        .fill(`*a${i - 1}`)
        .join(", ")}]}`,
    );
  return lines.join("\n");
}
