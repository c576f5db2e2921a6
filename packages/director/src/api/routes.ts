import { deleteConfigsByName } from "./endpoints/delete_configs.ts";
import { deleteConfigsId } from "./endpoints/delete_configs_id.ts";
import { deleteDeploymentsName } from "./endpoints/delete_deployments_name.ts";
import { deleteDisksCid } from "./endpoints/delete_disks_cid.ts";
import { deleteStemcellsNameVersion } from "./endpoints/delete_stemcells_name_version.ts";
import { deleteStraysId } from "./endpoints/delete_strays_id.ts";
import { deleteTaskId } from "./endpoints/delete_task_id.ts";
import { deleteVmsCid } from "./endpoints/delete_vms_cid.ts";
import { getConfigs } from "./endpoints/get_configs.ts";
import { getConfigsId } from "./endpoints/get_configs_id.ts";
import { getDeploymentConfigs } from "./endpoints/get_deployment_configs.ts";
import { getDeployments } from "./endpoints/get_deployments.ts";
import { getDeploymentsName } from "./endpoints/get_deployments_name.ts";
import { getDeploymentsNameDisks } from "./endpoints/get_deployments_name_disks.ts";
import { getDeploymentsNameInstances } from "./endpoints/get_deployments_name_instances.ts";
import { getDeploymentsNameProblems } from "./endpoints/get_deployments_name_problems.ts";
import { getDeploymentsNameVms } from "./endpoints/get_deployments_name_vms.ts";
import { getDirectorCertificateExpiry } from "./endpoints/get_director_certificate_expiry.ts";
import { getDisks } from "./endpoints/get_disks.ts";
import { getEvents } from "./endpoints/get_events.ts";
import { getEventsId } from "./endpoints/get_events_id.ts";
import { getInfo } from "./endpoints/get_info.ts";
import { getInstanceGroupsStore } from "./endpoints/get_instance_groups_store.ts";
import { getLocks } from "./endpoints/get_locks.ts";
import { getOrphanedVms } from "./endpoints/get_orphaned_vms.ts";
import { getResurrection } from "./endpoints/get_resurrection.ts";
import { getStemcells } from "./endpoints/get_stemcells.ts";
import { getStrays } from "./endpoints/get_strays.ts";
import { getTasks } from "./endpoints/get_tasks.ts";
import { getTasksId } from "./endpoints/get_tasks_id.ts";
import { getTasksIdOutput, outputPermission } from "./endpoints/get_tasks_id_output.ts";
import { emptyList, emptyListOfDeployment, getResourcesId, notYet } from "./endpoints/not_yet.ts";
import { postConfigs } from "./endpoints/post_configs.ts";
import { postConfigsDiff } from "./endpoints/post_configs_diff.ts";
import { postDeployments } from "./endpoints/post_deployments.ts";
import { postDeploymentsNameDiff } from "./endpoints/post_deployments_name_diff.ts";
import { postDeploymentsNameScans } from "./endpoints/post_deployments_name_scans.ts";
import { postInstanceGroupsActions } from "./endpoints/post_instance_groups_actions.ts";
import { postStemcellUploads } from "./endpoints/post_stemcell_uploads.ts";
import { postStemcells } from "./endpoints/post_stemcells.ts";
import { postStemcellsArchive } from "./endpoints/post_stemcells_archive.ts";
import { postTasksCancel } from "./endpoints/post_tasks_cancel.ts";
import { putDeploymentsNameJobs } from "./endpoints/put_deployments_name_jobs.ts";
import { putDeploymentsNameProblems } from "./endpoints/put_deployments_name_problems.ts";
import { putDeploymentsNameScanAndFix } from "./endpoints/put_deployments_name_scan_and_fix.ts";
import { putDisksCidAttachments } from "./endpoints/put_disks_cid_attachments.ts";
import { putInstanceGroupsIgnore } from "./endpoints/put_instance_groups_ignore.ts";
import { putInstanceGroupsStore } from "./endpoints/put_instance_groups_store.ts";
import { putResurrection } from "./endpoints/put_resurrection.ts";
import {
  getReleases,
  noSuchRelease,
  postPackagesMatches,
  postReleases,
  postReleasesExport,
} from "./endpoints/releases.ts";
import { getTypedConfigs, postTypedConfigs, postTypedConfigsDiff } from "./endpoints/typed_configs.ts";
import type { Body, Endpoint, Route } from "./route.ts";

const get = (path: string, permission: Route["permission"], endpoint: Endpoint): Route => ({
  method: "GET",
  path,
  permission,
  body: "any",
  endpoint,
});
const change =
  (method: Route["method"]) =>
  (path: string, permission: Route["permission"], body: Body, endpoint: Endpoint): Route => ({
    method,
    path,
    permission,
    body,
    endpoint,
  });
const post = change("POST");
const put = change("PUT");
const remove = (path: string, permission: Route["permission"], endpoint: Endpoint): Route =>
  change("DELETE")(path, permission, "any", endpoint);

const DEPLOYMENT = "/deployments/:deployment";
const INSTANCE = `${DEPLOYMENT}/instance_groups/:group/:index`;

/** Every endpoint, who may call it, and which body it takes. */
export const routes: readonly Route[] = [
  get("/info", "anyone", getInfo),
  get("/director/certificate_expiry", "read", getDirectorCertificateExpiry),

  get("/tasks", "read", getTasks),
  get("/tasks/:id", "read", getTasksId),
  get("/tasks/:id/output", outputPermission, getTasksIdOutput),
  remove("/task/:id", "admin", deleteTaskId),
  post("/tasks/cancel", "admin", "json", postTasksCancel),

  get("/stemcells", "read", getStemcells),
  post("/stemcell_uploads", "read", "any", postStemcellUploads),
  post("/stemcells", "upload_stemcells", "json", postStemcells),
  post("/stemcells", "upload_stemcells", "archive", postStemcellsArchive),
  remove("/stemcells/:name/:version", "admin", deleteStemcellsNameVersion),

  get("/releases", "read", getReleases),
  get("/releases/:name", "read", noSuchRelease),
  post("/releases", "upload_releases", "json", postReleases),
  post("/releases", "upload_releases", "archive", postReleases),
  post("/releases/export", "admin", "json", postReleasesExport),
  remove("/releases/:name", "admin", noSuchRelease),
  post("/packages/matches", "admin", "yaml", postPackagesMatches),
  post("/packages/matches_compiled", "admin", "yaml", postPackagesMatches),
  get("/resources/:id", "admin", getResourcesId),

  get("/configs", "read", getConfigs),
  get("/configs/:id", "read", getConfigsId),
  post("/configs", "admin", "json", postConfigs),
  post("/configs/diff", "read", "json", postConfigsDiff),
  remove("/configs", "admin", deleteConfigsByName),
  remove("/configs/:id", "admin", deleteConfigsId),
  get("/cloud_configs", "read", getTypedConfigs("cloud")),
  post("/cloud_configs", "admin", "yaml", postTypedConfigs("cloud")),
  post("/cloud_configs/diff", "admin", "yaml", postTypedConfigsDiff("cloud")),
  get("/runtime_configs", "read", getTypedConfigs("runtime")),
  post("/runtime_configs", "admin", "yaml", postTypedConfigs("runtime")),
  post("/runtime_configs/diff", "admin", "yaml", postTypedConfigsDiff("runtime")),
  get("/cpi_configs", "admin", getTypedConfigs("cpi")),
  post("/cpi_configs", "admin", "yaml", postTypedConfigs("cpi")),
  post("/cpi_configs/diff", "admin", "yaml", postTypedConfigsDiff("cpi")),

  get("/deployments", "read", getDeployments),
  post("/deployments", "admin", "yaml", postDeployments),
  post(`${DEPLOYMENT}/diff`, "admin", "yaml", postDeploymentsNameDiff),
  get("/deployment_configs", "read", getDeploymentConfigs),
  get(DEPLOYMENT, "read", getDeploymentsName),
  remove(DEPLOYMENT, "admin", deleteDeploymentsName),
  get(`${DEPLOYMENT}/instances`, "read", getDeploymentsNameInstances),
  get(`${DEPLOYMENT}/vms`, "read", getDeploymentsNameVms),
  get(`${DEPLOYMENT}/disks`, "read", getDeploymentsNameDisks),
  get(`${DEPLOYMENT}/errands`, "read", emptyListOfDeployment),
  get(`${DEPLOYMENT}/variables`, "admin", emptyListOfDeployment),
  get(`${DEPLOYMENT}/snapshots`, "admin", emptyListOfDeployment),
  get(`${DEPLOYMENT}/certificate_expiry`, "read", emptyListOfDeployment),
  put(`${DEPLOYMENT}/jobs/:group`, "admin", "yaml", putDeploymentsNameJobs),
  put(`${DEPLOYMENT}/jobs/:group/:index`, "admin", "yaml", putDeploymentsNameJobs),
  get(`${DEPLOYMENT}/jobs/:group/:index/logs`, "admin", notYet("fetch logs")),
  post(`${INSTANCE}/actions/:action`, "admin", "any", postInstanceGroupsActions),
  put(`${INSTANCE}/ignore`, "admin", "json", putInstanceGroupsIgnore),
  get(`${INSTANCE}/store`, "admin", getInstanceGroupsStore),
  put(`${INSTANCE}/store`, "admin", "any", putInstanceGroupsStore),
  post(`${DEPLOYMENT}/ssh`, "admin", "json", notYet("set up ssh")),
  post(`${DEPLOYMENT}/errands/:errand/runs`, "admin", "any", notYet("run errands")),
  post(`${DEPLOYMENT}/scans`, "admin", "any", postDeploymentsNameScans),
  get(`${DEPLOYMENT}/problems`, "admin", getDeploymentsNameProblems),
  put(`${DEPLOYMENT}/problems`, "admin", "json", putDeploymentsNameProblems),
  put(`${DEPLOYMENT}/scan_and_fix`, "admin", "json", putDeploymentsNameScanAndFix),
  post(`${DEPLOYMENT}/snapshots`, "admin", "any", notYet("take snapshots")),
  post(`${DEPLOYMENT}/jobs/:group/:index/snapshots`, "admin", "any", notYet("take snapshots")),

  get("/disks", "admin", getDisks),
  get("/orphan_disks", "admin", getDisks),
  remove("/disks/:cid", "admin", deleteDisksCid),
  put("/disks/:cid/attachments", "admin", "any", putDisksCidAttachments),
  remove("/vms/:cid", "admin", deleteVmsCid),
  get("/orphaned_vms", "admin", getOrphanedVms),
  get("/networks", "admin", emptyList),
  get("/strays", "admin", getStrays),
  remove("/strays/:id", "admin", deleteStraysId),

  get("/events", "read", getEvents),
  get("/events/:id", "admin", getEventsId),
  get("/locks", "read", getLocks),
  get("/resurrection", "admin", getResurrection),
  put("/resurrection", "admin", "json", putResurrection),
  post("/cleanup", "admin", "json", notYet("clean up")),
  get("/cleanup/dryrun", "admin", notYet("clean up")),
];
