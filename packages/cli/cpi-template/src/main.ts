#!/usr/bin/env node
import { serve } from "@slipway/cpi-sdk/serve";
import { myCpi } from "./cpi.ts";

serve(myCpi);
