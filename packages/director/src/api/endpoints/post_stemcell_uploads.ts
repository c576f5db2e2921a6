import { stemcellUpload, stemcellUploadAnswer } from "@slipway/protocol/director/stemcell";
import { uploadedTo } from "../../store/stemcells.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** The CPI of a Director without CPI config. */
const ONLY_CPI = "";

/** Whether an upload would bring something new. For an address whose name is not known the CLI sends empty strings. */
export const postStemcellUploads = endpoint(
  { body: stemcellUpload, reply: stemcellUploadAnswer },
  async (call, { db }) => {
    const { name, version } = (await call.json()).stemcell;
    if (!name || !version) return json({ needed: true });
    return json({ needed: !(await uploadedTo(db, name, version)).includes(ONLY_CPI) });
  },
);
