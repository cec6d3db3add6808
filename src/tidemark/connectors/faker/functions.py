"""What expressions can call: names as Datafaker has them, and how their values are made."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from tidemark.connectors.faker.expressions import (
    BadExpression,
    Expression,
    FakerCall,
    folded,
    members,
    parse,
)
from tidemark.connectors.faker.patterns import pattern
from tidemark.connectors.faker.themes import THEMES
from tidemark.errors import did_you_mean


@dataclass(frozen=True, slots=True)
class Library:
    """Values of a method of the library."""

    method: str


@dataclass(frozen=True, slots=True)
class Template:
    """Another expression."""

    text: str


@dataclass(frozen=True, slots=True)
class Computed:
    """A function of `made/computed.py`, with so many arguments."""

    name: str
    least: int = 0
    most: int = 0
    numeric: bool = False  # arguments are numbers, but for units of time


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object, whose values may be arrays."""

    arrays: bool


Source: TypeAlias = tuple[str, ...] | Library | Template | Computed | Document

_UNITS: Final = (
    "NANOSECONDS",
    "MICROSECONDS",
    "MILLISECONDS",
    "SECONDS",
    "MINUTES",
    "HOURS",
    "DAYS",
)

_LIBRARY: Final = {
    "Name.firstName": "first_name",
    "Name.lastName": "last_name",
    "Name.maleFirstName": "first_name_male",
    "Name.femaleFirstName": "first_name_female",
    "Name.title": "job",
    "Job.title": "job",
    "Address.city": "city",
    "Address.cityName": "city",
    "Address.cityPrefix": "city_prefix",
    "Address.citySuffix": "city_suffix",
    "Address.country": "country",
    "Country.name": "country",
    "Address.countryCode": "country_code",
    "Country.countryCode2": "country_code",
    "Address.state": "state",
    "Address.stateAbbr": "state_abbr",
    "Address.streetName": "street_name",
    "Address.streetSuffix": "street_suffix",
    "Address.timeZone": "timezone",
    "Company.name": "company",
    "Company.suffix": "company_suffix",
    "Company.catchPhrase": "catch_phrase",
    "Company.bs": "bs",
    "Currency.code": "currency_code",
    "Currency.name": "currency_name",
    "Country.currencyCode": "currency_code",
    "Internet.domainWord": "domain_word",
    "Internet.domainSuffix": "tld",
    "Internet.userAgentAny": "user_agent",
    "Internet.userAgent": "user_agent",
    "Lorem.word": "word",
    "File.extension": "file_extension",
    "File.mimeType": "mime_type",
    "Color.hex": "hex_color",
}

_TEMPLATES: Final = {
    "Name.name": "#{Name.firstName} #{Name.lastName}",
    "Name.fullName": "#{Name.firstName} #{Name.lastName}",
    "Name.nameWithMiddle": "#{Name.firstName} #{Name.firstName} #{Name.lastName}",
    "Name.username": "#{Internet.firstPart}.#{Internet.lastPart}",
    "Internet.username": "#{Internet.firstPart}.#{Internet.lastPart}",
    "Internet.domainName": "#{Internet.domainWord}.#{Internet.domainSuffix}",
    "Internet.url": "https://www.#{Internet.domainName}",
    "Internet.emailAddress": "#{Internet.firstPart}.#{Internet.lastPart}@#{regexify '(gmail|yahoo"
    "|hotmail)'}.com",
    "Internet.safeEmailAddress": "#{Internet.firstPart}.#{Internet.lastPart}@example.com",
    "Internet.slug": "#{Lorem.word}_#{Lorem.word}",
    "Internet.macAddress": "#{regexify '([0-9a-f]{2}:){5}[0-9a-f]{2}'}",
    "Internet.ipV6Address": "#{regexify '([0-9a-f]{4}:){7}[0-9a-f]{4}'}",
    "Internet.password": "#{regexify '[a-z0-9]{8,16}'}",
    "Internet.port": "#{number.numberBetween '0','65536'}",
    "Address.buildingNumber": "#{regexify '[1-9][0-9]{2,4}'}",
    "Address.streetAddressNumber": "#{regexify '[1-9][0-9]{2,4}'}",
    "Address.streetAddress": "#{Address.buildingNumber} #{Address.streetName}",
    "Address.secondaryAddress": "#{regexify '(Apt\\. |Suite )[0-9]{3}'}",
    "Address.zipCode": "#{numerify '#####'}",
    "Address.postcode": "#{numerify '#####'}",
    "Address.fullAddress": "#{Address.streetAddress}, #{Address.city}, #{Address.stateAbbr}"
    " #{Address.zipCode}",
    "Address.latitude": "#{number.randomDouble '8','-90','90'}",
    "Address.longitude": "#{number.randomDouble '8','-180','180'}",
    "Company.url": "www.#{Internet.domainName}",
    "Commerce.productName": "#{Commerce.adjective} #{Commerce.material} #{Commerce.product}",
    "Commerce.promotionCode": "#{regexify '(Cool|Super|Great|Special|Premium)"
    "(Deal|Discount|Promo|Sale)[0-9]{6}'}",
    "PhoneNumber.phoneNumber": "#{regexify '\\([2-9][0-9]{2}\\) [2-9][0-9]{2}-[0-9]{4}'}",
    "PhoneNumber.cellPhone": "#{regexify '[2-9][0-9]{2}-[2-9][0-9]{2}-[0-9]{4}'}",
    "Finance.bic": "#{regexify '[A-Z]{4}(DE|FR|GB|US|IT|NL)[A-Z0-9]{2}'}",
    "Business.creditCardNumber": "#{Finance.creditCard}",
    "Business.creditCardType": "#{regexify '(visa|mastercard|discover|american_express)'}",
    "IdNumber.valid": "#{numerify '###-##-####'}",
    "IdNumber.ssnValid": "#{numerify '###-##-####'}",
    "Code.ean13": "#{numerify '#############'}",
    "Code.isbn10": "#{numerify '##########'}",
    "Code.isbn13": "#{numerify '978##########'}",
    "Code.asin": "#{regexify 'B000[A-Z0-9]{6}'}",
    "Code.imei": "#{numerify '###############'}",
    "Book.author": "#{Name.name}",
    "File.fileName": "#{Lorem.word}.#{File.extension}",
    "University.name": "#{University.prefix} #{Name.lastName} University",
    "App.name": "#{Commerce.adjective}#{Commerce.product}",
    "App.version": "#{regexify '[0-9]\\.[0-9]\\.[0-9]'}",
    "Vehicle.vin": "#{regexify '[A-HJ-NPR-Z0-9]{17}'}",
    "Vehicle.licensePlate": "#{regexify '[A-Z]{3}-[0-9]{4}'}",
    "Crypto.md5": "#{regexify '[0-9a-f]{32}'}",
    "Crypto.sha1": "#{regexify '[0-9a-f]{40}'}",
    "Crypto.sha256": "#{regexify '[0-9a-f]{64}'}",
    "Weather.temperatureCelsius": "#{number.numberBetween '-30','39'}°C",
    "Weather.temperatureFahrenheit": "#{number.numberBetween '-22','102'}°F",
    "Lorem.character": "#{regexify '[a-z0-9]'}",
}

_COMPUTED: Final = {
    "number.numberBetween": Computed("number_between", 2, 2, numeric=True),
    "number.randomDouble": Computed("random_double", 3, 3, numeric=True),
    "number.randomDigit": Computed("random_digit"),
    "number.randomDigitNotZero": Computed("random_digit_not_zero"),
    "number.randomNumber": Computed("random_number", 0, 2, numeric=True),
    "number.digits": Computed("digits", 1, 1, numeric=True),
    "number.digit": Computed("random_digit"),
    "number.positive": Computed("positive"),
    "number.negative": Computed("negative"),
    "date.past": Computed("past", 2, 3, numeric=True),
    "date.future": Computed("future", 2, 3, numeric=True),
    "date.between": Computed("between", 2, 2),
    "date.birthday": Computed("birthday", 0, 2, numeric=True),
    "timeAndDate.past": Computed("past", 2, 3, numeric=True),
    "timeAndDate.future": Computed("future", 2, 3, numeric=True),
    "bool.bool": Computed("boolean"),
    "regexify": Computed("regexify", 1, 1),
    "bothify": Computed("bothify", 1, 2),
    "letterify": Computed("letterify", 1, 2),
    "numerify": Computed("numerify", 1, 1),
    "examplify": Computed("examplify", 1, 1),
    "Options.option": Computed("option", 1, 1000),
    "Internet.uuid": Computed("uuid"),
    "Internet.ipV4Address": Computed("ip_address"),
    "Internet.publicIpV4Address": Computed("public_ip_address"),
    "Internet.privateIpV4Address": Computed("private_ip_address"),
    "Internet.firstPart": Computed("first_part"),
    "Internet.lastPart": Computed("last_part"),
    "Commerce.price": Computed("price", 0, 2, numeric=True),
    "Lorem.words": Computed("words", 0, 1, numeric=True),
    "Lorem.sentence": Computed("sentence", 0, 1, numeric=True),
    "Lorem.sentences": Computed("sentence", 0, 1, numeric=True),
    "Lorem.paragraph": Computed("paragraph", 0, 1, numeric=True),
    "Lorem.characters": Computed("characters", 0, 2, numeric=True),
    "Finance.creditCard": Computed("credit_card", 0, 1),
    "Finance.iban": Computed("iban", 0, 1),
}

_DOCUMENTS: Final = {"json": Document(arrays=False), "jsona": Document(arrays=True)}

# Older names, and the plurals of java-faker.
_ALIASES: Final = {
    "HarryPotter.characters": "HarryPotter.character",
    "HarryPotter.spells": "HarryPotter.spell",
    "HarryPotter.locations": "HarryPotter.location",
    "DrWho.theDoctors": "DrWho.theDoctor",
    "DrWho.characters": "DrWho.character",
    "DrWho.villains": "DrWho.villain",
    "StarWars.characters": "StarWars.character",
    "StarTrek.characters": "StarTrek.character",
    "GameOfThrones.characters": "GameOfThrones.character",
    "GameOfThrones.houses": "GameOfThrones.house",
    "GameOfThrones.cities": "GameOfThrones.city",
    "GameOfThrones.dragons": "GameOfThrones.dragon",
    "Hitchhikers.characters": "HitchhikersGuideToTheGalaxy.character",
    "HitchhikersGuideToTheGalaxy.characters": "HitchhikersGuideToTheGalaxy.character",
    "HitchhikersGuideToTheGalaxy.locations": "HitchhikersGuideToTheGalaxy.location",
    "RickAndMorty.characters": "RickAndMorty.character",
    "RickAndMorty.locations": "RickAndMorty.location",
    "StarTrek.species": "StarTrek.specie",
    "Food.ingredients": "Food.ingredient",
    "Food.fruits": "Food.fruit",
    "Food.vegetables": "Food.vegetable",
    "Food.spices": "Food.spice",
    "Food.dishes": "Food.dish",
    "Internet.userAgentAny": "Internet.userAgent",
}


def _all() -> dict[str, Source]:
    found: dict[str, Source] = {**THEMES, **_COMPUTED, **_DOCUMENTS}
    found.update({name: Library(method) for name, method in _LIBRARY.items()})
    found.update({name: Template(text) for name, text in _TEMPLATES.items()})
    found.update({alias: found[name] for alias, name in _ALIASES.items()})
    return found


# By name as Datafaker writes it, and as calls have it.
NAMES: Final[Mapping[str, Source]] = _all()
FUNCTIONS: Final[Mapping[str, Source]] = {folded(name): source for name, source in NAMES.items()}


def checked(text: str) -> Expression:
    """The expression, all of whose calls can be made. Raises BadExpression."""
    found = parse(text)
    for part in found:
        if isinstance(part, FakerCall):
            _check(part)
    return found


def _check(call: FakerCall) -> None:
    source = FUNCTIONS.get(call.name)
    if source is None:
        nearest = did_you_mean(call.written, NAMES)
        raise BadExpression(f"unknown function '{call.written}'", nearest)
    if isinstance(source, Document):
        for member in members(call, arrays=source.arrays):
            checked(member.name)
            checked(member.value)
        return
    function = source if isinstance(source, Computed) else Computed("")
    if not function.least <= len(call.arguments) <= function.most:
        raise BadExpression(
            f"'{call.written}' takes {_counted(function)}, not {len(call.arguments)}"
        )
    if function.numeric:
        _check_numbers(call)
    if function.name == "regexify":
        pattern(call.arguments[0])
    if function.name == "between":
        _check_times(call)


def _counted(function: Computed) -> str:
    if function.most == 0:
        return "no arguments"
    least, most = function.least, function.most
    return f"{least} arguments" if least == most else f"{least} to {most} arguments"


def _check_numbers(call: FakerCall) -> None:
    numbers = []
    for argument in call.arguments:
        if argument.upper() in _UNITS or argument.lower() in ("true", "false"):
            continue
        try:
            numbers.append(float(argument))
        except ValueError:
            raise BadExpression(
                f"'{call.written}' does not take '{argument}'",
                f"write a number, or a unit such as {_UNITS[3]}",
            ) from None
    if call.name == "number.numberbetween" and numbers[0] > numbers[1]:
        raise BadExpression(f"there is no number from {numbers[0]:g} to {numbers[1]:g}")


def _check_times(call: FakerCall) -> None:
    for argument in call.arguments:
        try:
            dt.datetime.fromisoformat(argument)
        except ValueError:
            raise BadExpression(
                f"'{call.written}' does not take '{argument}'", "write '2024-01-01 00:00:00'"
            ) from None
