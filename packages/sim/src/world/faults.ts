import type { CpiClient } from "@slipway/cpi-sdk/embed";
import type { SimWorld } from "./world.ts";

type CpiRequests = Pick<CpiClient, "request">;

/** The world's CPI with what goes wrong with it at the moment. */
export const withFaults = (world: SimWorld, cpi: CpiRequests): CpiRequests => ({
  request: async (request) => {
    const fault = world.faults.get((request as { readonly method: string }).method);
    if (fault === "refuses")
      return {
        result: null,
        error: { type: "Bosh::Clouds::CloudError", message: "not today", ok_to_retry: false },
        log: "",
      };
    const reply = await cpi.request(request);
    return fault === undefined ? reply : { ...reply, result: 42 };
  },
});
