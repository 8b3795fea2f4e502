-- Support looks people up by their phone number.
create index if not exists user_profile_phone_number on user_profile (phone_number) where phone_number is not null;
