-- Who is on the way to the OpenID provider takes it along, encrypted: strangers could fill this table.
drop table upstream_flow;
