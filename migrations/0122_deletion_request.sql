-- People who asked for the deletion of their account. due_at: when it happens by itself; null where an operator decides.
create table deletion_request (
  routing_key  int not null,
  cid          int not null,
  user_id      text not null,
  requested_at timestamptz not null,
  due_at       timestamptz,
  primary key (routing_key, cid, user_id)
);
create index deletion_request_order on deletion_request (requested_at, cid, user_id);
create index deletion_request_due on deletion_request (due_at) where due_at is not null;
