import { expect, it } from "vitest";
import { inAddressOrder } from "./vm-wire.ts";

it("lists addresses by number, each once, whatever their networks", () => {
  expect(inAddressOrder(["10.0.0.10", "10.0.0.9", "8.8.4.4", "fd00::1", "10.0.0.9", "10.0.0.16/28"])).toEqual(
    ["8.8.4.4", "10.0.0.9", "10.0.0.10", "10.0.0.16/28", "fd00::1"],
  );
});
