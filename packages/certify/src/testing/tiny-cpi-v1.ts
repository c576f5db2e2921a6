import { serve } from "@slipway/cpi-sdk/serve";
import { tinyCpi } from "../../../../examples/tiny-cpi/src/tiny-cpi.ts";

/** The tiny CPI as it was before its migration to version 2. */
serve({ ...tinyCpi, apiVersion: 1 });
