#!/usr/bin/env node
import { serve } from "@slipway/cpi-sdk/serve";
import { tinyCpi } from "./tiny-cpi.ts";

serve(tinyCpi);
