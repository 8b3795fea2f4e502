-- A new phone number or mail address of a person, until the code that was sent there is typed.
create table contact_change (
  routing_key int not null,
  cid         int not null,
  user_id     text not null,
  kind        text not null, -- phone, mail
  change_id   uuid not null,
  value       text not null,
  tries       int not null default 0, -- wrong codes
  asked_at    timestamptz not null,
  expires_at  timestamptz not null,
  primary key (routing_key, cid, user_id, kind),
  foreign key (routing_key, cid, user_id) references user_profile on delete cascade
);
