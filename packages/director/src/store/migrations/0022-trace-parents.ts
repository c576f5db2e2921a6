/** The trace that the request for a task belongs to: whoever resumes the task goes on with it. */
export const traceParents = `
alter table tasks add column trace_parent text;
`;
