-- How often the links to a run were withdrawn: a link opens it only while the number is the one that it was made with.
create table sandbox_withdrawn_link (
  run_id uuid primary key references sandbox_run on delete cascade,
  times int not null
);
