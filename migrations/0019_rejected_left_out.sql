-- How many more calls were refused in a window and not kept: a row that stands for them, with nothing else in it.
alter table rejected_call add column left_out int;

-- Whether the signature tool was called by somebody who proved to hold a secret of the partner (or pasted a call while
-- signed in). Anybody who knows a clientId can make the others, so they are counted apart.
alter table signature_test add column verified boolean not null default false;
update signature_test set verified = true where source = 'pasted' or mistakes = '{}';
drop index signature_test_partner;
create index signature_test_partner on signature_test (partner_id, verified, test_id);

-- What a call is taken with all the same, by name (src/ticketing/mws/diagnose/warnings.ts).
alter table signature_test add column warnings text[] not null default '{}';
alter table notice add column warnings text not null default ''; -- names with spaces between them
