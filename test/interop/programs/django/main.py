"""A Django site that only signs people in. Run with: python main.py runserver"""

import secrets
import sys
from pathlib import Path

from django.conf import settings

FOLDER = Path(__file__).parent
given = {"INSTALLED_APPS": ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"]}
exec((FOLDER / "settings.py").read_text(), given)
settings.configure(
    **{name: value for name, value in given.items() if name.isupper()},
    ALLOWED_HOSTS=["127.0.0.1"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "site.sqlite"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    LOGIN_REDIRECT_URL="/",
    LOGIN_URL="/oidc/authenticate/",
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
    ],
    ROOT_URLCONF=__name__,
    SECRET_KEY=secrets.token_hex(),
)

from django.contrib.auth.decorators import login_required  # noqa: E402: needs the settings
from django.core.management import execute_from_command_line  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.urls import include, path  # noqa: E402

urlpatterns = [
    path("", login_required(lambda request: HttpResponse(request.user.get_username()))),
    path("oidc/", include("mozilla_django_oidc.urls")),
]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
