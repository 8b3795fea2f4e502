-- What the partner's last answer to order query says that the platform's records do not.
alter table ticket_order add column contradiction text;
