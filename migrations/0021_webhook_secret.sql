-- What signs the calls to a contact's webhook: AES-256-GCM under a key derived from SECRET_KEY. Null without a webhook, and
-- for webhooks from before, which are called unsigned until an operator makes a secret for them.
alter table partner_contact add column webhook_secret bytea;
