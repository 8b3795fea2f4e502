-- A removal counts as sent again if its entries were missing before, among the days that were asked for then. Entries of
-- product_price that have not been pulled since said_at were missing.
alter table price_removal
  alter column digest drop not null, -- of earlier versions
  add column from_date date,
  add column to_date date;
