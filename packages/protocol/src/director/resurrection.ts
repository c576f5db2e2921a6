import * as v from "valibot";
import { open } from "../schema/json.ts";

/** `GET /resurrection`. */
export const resurrection = open({ resurrection: v.boolean() });

/** `PUT /resurrection`. */
export const resurrectionChange = open({ resurrection_paused: v.boolean() });
