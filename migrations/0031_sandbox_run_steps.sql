-- The steps that a run began with, in order: a step that is added later belongs to later runs only.
alter table sandbox_run add column steps text[]; -- ids of src/sandbox/certification/steps; null: begun by a process of the version before
