import { temporaryDirectory } from "@slipway/testkit/temporary";
import { onTestFinished } from "vitest";

/** A directory that is gone when the test is. */
export async function ownDirectory(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  return path;
}
