-- A picture that a person has uploaded; its address, a part of the profile, names picture_id, so another one has another.
create table profile_picture (
  routing_key int not null,
  cid         int not null,
  user_id     text not null,
  picture_id  uuid not null,
  bytes       bytea not null, -- JPEG
  made_at     timestamptz not null,
  primary key (routing_key, cid, user_id),
  foreign key (routing_key, cid, user_id) references user_profile on delete cascade
);
create unique index profile_picture_by_id on profile_picture (routing_key, picture_id);
