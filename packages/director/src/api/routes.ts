import { deleteConfigsByName } from "./endpoints/delete_configs.ts";
import { deleteConfigsId } from "./endpoints/delete_configs_id.ts";
import { deleteDeploymentsName } from "./endpoints/delete_deployments_name.ts";
import {
  deleteDeploymentsNameSnapshots,
  deleteDeploymentsNameSnapshotsCid,
} from "./endpoints/delete_deployments_name_snapshots.ts";
import { deleteDisksCid } from "./endpoints/delete_disks_cid.ts";
import { deleteLinksId } from "./endpoints/delete_links_id.ts";
import { deleteNetworksName } from "./endpoints/delete_networks_name.ts";
import { deleteReleasesName } from "./endpoints/delete_releases_name.ts";
import { deleteStemcellsNameVersion } from "./endpoints/delete_stemcells_name_version.ts";
import { deleteStraysId } from "./endpoints/delete_strays_id.ts";
import { deleteTaskId } from "./endpoints/delete_task_id.ts";
import { deleteVmsCid } from "./endpoints/delete_vms_cid.ts";
import { getCleanupDryrun } from "./endpoints/get_cleanup_dryrun.ts";
import { getConfigs } from "./endpoints/get_configs.ts";
import { getConfigsId } from "./endpoints/get_configs_id.ts";
import { getConsole, getConsoleFile } from "./endpoints/get_console.ts";
import { getDeployedVariables } from "./endpoints/get_deployed_variables.ts";
import { getDeploymentConfigs } from "./endpoints/get_deployment_configs.ts";
import { getDeployments } from "./endpoints/get_deployments.ts";
import { getDeploymentsName } from "./endpoints/get_deployments_name.ts";
import { getDeploymentsNameCertificateExpiry } from "./endpoints/get_deployments_name_certificate_expiry.ts";
import { getDeploymentsNameDisks } from "./endpoints/get_deployments_name_disks.ts";
import { getDeploymentsNameErrands } from "./endpoints/get_deployments_name_errands.ts";
import { getDeploymentsNameInstances } from "./endpoints/get_deployments_name_instances.ts";
import { getDeploymentsNameProblems } from "./endpoints/get_deployments_name_problems.ts";
import { getDeploymentsNameSnapshots } from "./endpoints/get_deployments_name_snapshots.ts";
import { getDeploymentsNameVariables } from "./endpoints/get_deployments_name_variables.ts";
import { getDeploymentsNameVms } from "./endpoints/get_deployments_name_vms.ts";
import { getDirectorCertificateExpiry } from "./endpoints/get_director_certificate_expiry.ts";
import { getDirectorStatus } from "./endpoints/get_director_status.ts";
import { getDisks } from "./endpoints/get_disks.ts";
import { getEvents } from "./endpoints/get_events.ts";
import { getEventsId } from "./endpoints/get_events_id.ts";
import { getHealth } from "./endpoints/get_health.ts";
import { getInfo } from "./endpoints/get_info.ts";
import { getInstanceGroupsStore } from "./endpoints/get_instance_groups_store.ts";
import { getJobs } from "./endpoints/get_jobs.ts";
import { getJobsGroupIndex } from "./endpoints/get_jobs_group_index.ts";
import { getLinkAddress } from "./endpoints/get_link_address.ts";
import { getLinkConsumers } from "./endpoints/get_link_consumers.ts";
import { getLinkProviders } from "./endpoints/get_link_providers.ts";
import { getLinks } from "./endpoints/get_links.ts";
import { getLocks } from "./endpoints/get_locks.ts";
import { getLogs } from "./endpoints/get_logs.ts";
import { getMetrics } from "./endpoints/get_metrics.ts";
import { getNetworks } from "./endpoints/get_networks.ts";
import { getOrphanedVms } from "./endpoints/get_orphaned_vms.ts";
import { getReleases } from "./endpoints/get_releases.ts";
import { getReleasesName } from "./endpoints/get_releases_name.ts";
import { getResourcesId } from "./endpoints/get_resources_id.ts";
import { getResurrection } from "./endpoints/get_resurrection.ts";
import { getStemcells } from "./endpoints/get_stemcells.ts";
import { getStrays } from "./endpoints/get_strays.ts";
import { getTasks } from "./endpoints/get_tasks.ts";
import { getTasksId } from "./endpoints/get_tasks_id.ts";
import { getTasksIdOutput, outputPermission } from "./endpoints/get_tasks_id_output.ts";
import { getVariable } from "./endpoints/get_variable.ts";
import { postCleanup } from "./endpoints/post_cleanup.ts";
import { postConfigs } from "./endpoints/post_configs.ts";
import { postConfigsDiff } from "./endpoints/post_configs_diff.ts";
import { postDeployments } from "./endpoints/post_deployments.ts";
import { postDeploymentsNameDiff } from "./endpoints/post_deployments_name_diff.ts";
import { postDeploymentsNameScans } from "./endpoints/post_deployments_name_scans.ts";
import {
  postDeploymentsNameSnapshots,
  postJobsGroupIndexSnapshots,
} from "./endpoints/post_deployments_name_snapshots.ts";
import { postDeploymentsNameSsh } from "./endpoints/post_deployments_name_ssh.ts";
import { postErrandsRuns } from "./endpoints/post_errands_runs.ts";
import { postEvents } from "./endpoints/post_events.ts";
import { postInstanceGroupsActions } from "./endpoints/post_instance_groups_actions.ts";
import { postLinks } from "./endpoints/post_links.ts";
import { postNatsAuthorities } from "./endpoints/post_nats_authorities.ts";
import { postPackagesMatches, postPackagesMatchesCompiled } from "./endpoints/post_packages_matches.ts";
import { postReleases } from "./endpoints/post_releases.ts";
import { postReleasesArchive } from "./endpoints/post_releases_archive.ts";
import { postReleasesExport } from "./endpoints/post_releases_export.ts";
import { postStemcellUploads } from "./endpoints/post_stemcell_uploads.ts";
import { postStemcells } from "./endpoints/post_stemcells.ts";
import { postStemcellsArchive } from "./endpoints/post_stemcells_archive.ts";
import { postTasksCancel } from "./endpoints/post_tasks_cancel.ts";
import { postVariableRegeneration } from "./endpoints/post_variable_regeneration.ts";
import { putDeploymentsNameJobs } from "./endpoints/put_deployments_name_jobs.ts";
import { putDeploymentsNameProblems } from "./endpoints/put_deployments_name_problems.ts";
import { putDeploymentsNameScanAndFix } from "./endpoints/put_deployments_name_scan_and_fix.ts";
import { putDisksCidAttachments } from "./endpoints/put_disks_cid_attachments.ts";
import { putInstanceGroupsIgnore } from "./endpoints/put_instance_groups_ignore.ts";
import { putInstanceGroupsStore } from "./endpoints/put_instance_groups_store.ts";
import { putJobsResurrection } from "./endpoints/put_jobs_resurrection.ts";
import { putResurrection } from "./endpoints/put_resurrection.ts";
import { putVariable } from "./endpoints/put_variable.ts";
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
  get("/director/status", "read", getDirectorStatus),

  get("/console", "anyone", getConsole),
  get("/console/:file", "anyone", getConsoleFile),

  get("/tasks", "list", getTasks),
  get("/tasks/:id", "task_read", getTasksId),
  get("/tasks/:id/output", outputPermission, getTasksIdOutput),
  remove("/task/:id", "admin", deleteTaskId),
  post("/tasks/cancel", "admin", "json", postTasksCancel),

  get("/stemcells", "list", getStemcells),
  post("/stemcell_uploads", "list", "any", postStemcellUploads),
  post("/stemcells", "upload_stemcells", "json", postStemcells),
  post("/stemcells", "upload_stemcells", "archive", postStemcellsArchive),
  remove("/stemcells/:name/:version", "admin", deleteStemcellsNameVersion),

  get("/releases", "list", getReleases),
  get("/releases/:name", "list", getReleasesName),
  post("/releases", "upload_releases", "json", postReleases),
  post("/releases", "upload_releases", "archive", postReleasesArchive),
  post("/releases/export", "admin", "json", postReleasesExport),
  remove("/releases/:name", "admin", deleteReleasesName),
  get("/jobs", "read", getJobs),
  post("/packages/matches", "admin", "yaml", postPackagesMatches),
  post("/packages/matches_compiled", "admin", "yaml", postPackagesMatchesCompiled),
  get("/resources/:id", "resource", getResourcesId),

  get("/configs", "look", getConfigs),
  get("/configs/:id", "read", getConfigsId),
  post("/configs", "team", "json", postConfigs),
  post("/configs/diff", "look", "json", postConfigsDiff),
  remove("/configs", "team", deleteConfigsByName),
  remove("/configs/:id", "team", deleteConfigsId),
  get("/cloud_configs", "read", getTypedConfigs("cloud")),
  post("/cloud_configs", "admin", "yaml", postTypedConfigs("cloud")),
  post("/cloud_configs/diff", "admin", "yaml", postTypedConfigsDiff("cloud")),
  get("/runtime_configs", "read", getTypedConfigs("runtime")),
  post("/runtime_configs", "admin", "yaml", postTypedConfigs("runtime")),
  post("/runtime_configs/diff", "admin", "yaml", postTypedConfigsDiff("runtime")),
  get("/cpi_configs", "admin", getTypedConfigs("cpi")),
  post("/cpi_configs", "admin", "yaml", postTypedConfigs("cpi")),
  post("/cpi_configs/diff", "admin", "yaml", postTypedConfigsDiff("cpi")),

  get("/deployments", "list", getDeployments),
  post("/deployments", "team", "yaml", postDeployments),
  post(`${DEPLOYMENT}/diff`, "deployment_diff", "yaml", postDeploymentsNameDiff),
  get("/deployment_configs", "list", getDeploymentConfigs),
  get("/deployed_variables/:name", "list", getDeployedVariables),
  get("/variable", "admin", getVariable),
  put("/variable", "admin", "json", putVariable),
  post("/variable/regeneration", "admin", "json", postVariableRegeneration),
  get(DEPLOYMENT, "deployment_read", getDeploymentsName),
  remove(DEPLOYMENT, "deployment_admin", deleteDeploymentsName),
  get(`${DEPLOYMENT}/instances`, "deployment_read", getDeploymentsNameInstances),
  get(`${DEPLOYMENT}/vms`, "deployment_read", getDeploymentsNameVms),
  get(`${DEPLOYMENT}/disks`, "deployment_read", getDeploymentsNameDisks),
  get(`${DEPLOYMENT}/errands`, "deployment_read", getDeploymentsNameErrands),
  get(`${DEPLOYMENT}/variables`, "deployment_admin", getDeploymentsNameVariables),
  get(`${DEPLOYMENT}/snapshots`, "deployment_admin", getDeploymentsNameSnapshots),
  get(`${DEPLOYMENT}/certificate_expiry`, "deployment_read", getDeploymentsNameCertificateExpiry),
  get(`${DEPLOYMENT}/jobs/:group/:index`, "deployment_admin", getJobsGroupIndex),
  get(`${DEPLOYMENT}/jobs/:group/:index/snapshots`, "deployment_admin", getDeploymentsNameSnapshots),
  put(`${DEPLOYMENT}/jobs/:group`, "deployment_admin", "yaml", putDeploymentsNameJobs),
  put(`${DEPLOYMENT}/jobs/:group/:index`, "deployment_admin", "yaml", putDeploymentsNameJobs),
  put(`${DEPLOYMENT}/jobs/:group/:index/resurrection`, "deployment_admin", "json", putJobsResurrection),
  get(`${DEPLOYMENT}/jobs/:group/:index/logs`, "deployment_admin", getLogs),
  post(`${INSTANCE}/actions/:action`, "deployment_admin", "any", postInstanceGroupsActions),
  put(`${INSTANCE}/ignore`, "deployment_admin", "json", putInstanceGroupsIgnore),
  get(`${INSTANCE}/store`, "deployment_admin", getInstanceGroupsStore),
  put(`${INSTANCE}/store`, "deployment_admin", "any", putInstanceGroupsStore),
  post(`${DEPLOYMENT}/ssh`, "deployment_admin", "json", postDeploymentsNameSsh),
  post(`${DEPLOYMENT}/errands/:errand/runs`, "deployment_admin", "any", postErrandsRuns),
  post(`${DEPLOYMENT}/scans`, "deployment_admin", "any", postDeploymentsNameScans),
  get(`${DEPLOYMENT}/problems`, "deployment_admin", getDeploymentsNameProblems),
  put(`${DEPLOYMENT}/problems`, "deployment_admin", "json", putDeploymentsNameProblems),
  put(`${DEPLOYMENT}/scan_and_fix`, "deployment_admin", "json", putDeploymentsNameScanAndFix),
  post(`${DEPLOYMENT}/snapshots`, "deployment_admin", "any", postDeploymentsNameSnapshots),
  post(`${DEPLOYMENT}/jobs/:group/:index/snapshots`, "deployment_admin", "any", postJobsGroupIndexSnapshots),
  remove(`${DEPLOYMENT}/snapshots`, "deployment_admin", deleteDeploymentsNameSnapshots),
  remove(`${DEPLOYMENT}/snapshots/:cid`, "deployment_admin", deleteDeploymentsNameSnapshotsCid),

  get("/link_providers", "deployment_read", getLinkProviders),
  get("/link_consumers", "deployment_read", getLinkConsumers),
  get("/links", "deployment_read", getLinks),
  post("/links", "team", "json", postLinks),
  remove("/links/:id", "team", deleteLinksId),
  get("/link_address", "look", getLinkAddress),

  get("/disks", "admin", getDisks),
  get("/orphan_disks", "admin", getDisks),
  remove("/disks/:cid", "admin", deleteDisksCid),
  remove("/orphan_disks/:cid", "admin", deleteDisksCid),
  put("/disks/:cid/attachments", "admin", "any", putDisksCidAttachments),
  remove("/vms/:cid", "admin", deleteVmsCid),
  get("/orphaned_vms", "admin", getOrphanedVms),
  get("/networks", "admin", getNetworks),
  remove("/networks/:name", "admin", deleteNetworksName),
  get("/strays", "admin", getStrays),
  remove("/strays/:id", "admin", deleteStraysId),

  get("/events", "look", getEvents),
  post("/events", "admin", "json", postEvents),
  get("/events/:id", "admin", getEventsId),
  get("/locks", "read", getLocks),
  get("/health", "read", getHealth),
  get("/metrics", "read", getMetrics),
  get("/resurrection", "admin", getResurrection),
  put("/resurrection", "admin", "json", putResurrection),
  post("/nats/authorities", "admin", "any", postNatsAuthorities),
  post("/cleanup", "admin", "json", postCleanup),
  get("/cleanup/dryrun", "admin", getCleanupDryrun),
];
