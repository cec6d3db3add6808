"""Names that the library does not have: of stories, space, food, shops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_TEXTS: Final[Mapping[str, str]] = {
    "Superhero.name": """
        Batman, Superman, Wonder Woman, Flash, Aquaman, Cyborg, Green Lantern, Spider-Man, Iron
        Man, Captain America, Thor, Hulk, Black Widow, Hawkeye, Ant-Man, Wasp, Doctor Strange,
        Black Panther, Captain Marvel, Wolverine, Storm, Cyclops, Rogue, Beast, Professor X,
        Daredevil, Luke Cage, Jessica Jones, Iron Fist, Supergirl, Batgirl, Catwoman, Green
        Arrow, Black Canary, Martian Manhunter, Shazam, Deadpool, Silver Surfer, Star-Lord,
        Gamora, Drax, Groot, Rocket Raccoon, Scarlet Witch, Vision, Falcon, Winter Soldier""",
    "Superhero.power": """
        Flight, Super Strength, Invisibility, Telepathy, Telekinesis, Super Speed,
        Shapeshifting, Teleportation, Healing, Regeneration, X-Ray Vision, Time Travel,
        Precognition, Immortality, Invulnerability, Energy Blasts, Force Fields, Weather
        Control, Super Hearing, Wall Crawling, Magic, Elasticity, Size Changing, Night Vision,
        Animal Control""",
    "Superhero.prefix": """
        Captain, Doctor, Giant, Illustrious, Magnificent, Green, Red, Night, Cyborg""",
    "Superhero.suffix": "I, II, III, Machine, Wolf, Ranger, Phantom, Guardian, Strange, Knight",
    "Superhero.descriptor": "Shadow, Steel, Lightning, Thunder, Ice, Fire, Stone, Spirit, Storm",
    "HarryPotter.character": """
        Harry Potter, Hermione Granger, Ron Weasley, Albus Dumbledore, Severus Snape, Rubeus
        Hagrid, Minerva McGonagall, Draco Malfoy, Lucius Malfoy, Sirius Black, Remus Lupin, Lord
        Voldemort, Bellatrix Lestrange, Ginny Weasley, Fred Weasley, George Weasley, Molly
        Weasley, Arthur Weasley, Neville Longbottom, Luna Lovegood, Cho Chang, Cedric Diggory,
        Dobby, Dolores Umbridge, Gilderoy Lockhart, Nymphadora Tonks, Peter Pettigrew, Viktor
        Krum""",
    "HarryPotter.spell": """
        Accio, Aguamenti, Alohomora, Avada Kedavra, Confundo, Crucio, Cruciatus Curse, Expecto
        Patronum, Expelliarmus, Finite Incantatem, Imperio, Incendio, Levicorpus, Lumos, Nox,
        Obliviate, Petrificus Totalus, Protego, Reducto, Reparo, Riddikulus, Sectumsempra,
        Silencio, Sonorus, Stupefy, Wingardium Leviosa""",
    "HarryPotter.location": """
        Hogwarts, Hogsmeade, Diagon Alley, Knockturn Alley, The Burrow, Azkaban, Gringotts,
        Privet Drive, Platform Nine and Three-Quarters, The Leaky Cauldron, The Three
        Broomsticks, Godric's Hollow, Malfoy Manor, Shell Cottage, Ministry of Magic, The
        Forbidden Forest, Number Twelve Grimmauld Place""",
    "HarryPotter.house": "Gryffindor, Hufflepuff, Ravenclaw, Slytherin",
    "HarryPotter.book": """
        Harry Potter and the Philosopher's Stone, Harry Potter and the Chamber of Secrets, Harry
        Potter and the Prisoner of Azkaban, Harry Potter and the Goblet of Fire, Harry Potter
        and the Order of the Phoenix, Harry Potter and the Half-Blood Prince, Harry Potter and
        the Deathly Hallows""",
    "DrWho.theDoctor": """
        First Doctor, Second Doctor, Third Doctor, Fourth Doctor, Fifth Doctor, Sixth Doctor,
        Seventh Doctor, Eighth Doctor, War Doctor, Ninth Doctor, Tenth Doctor, Eleventh Doctor,
        Twelfth Doctor, Thirteenth Doctor""",
    "DrWho.character": """
        Rose Tyler, Martha Jones, Donna Noble, Amy Pond, Rory Williams, River Song, Clara
        Oswald, Bill Potts, Captain Jack Harkness, Sarah Jane Smith, The Master, Davros, K-9""",
    "DrWho.villain": """
        Daleks, Cybermen, Weeping Angels, The Master, Sontarans, Zygons, Slitheen, Davros""",
    "DrWho.species": """
        Time Lord, Dalek, Cyberman, Sontaran, Ood, Silurian, Weeping Angel, Zygon, Human""",
    "RickAndMorty.character": """
        Rick Sanchez, Morty Smith, Summer Smith, Beth Smith, Jerry Smith, Birdperson, Squanchy,
        Mr. Meeseeks, Mr. Poopybutthole, Evil Morty, Unity, Noob-Noob, Scary Terry, Tammy
        Guetermann, Snuffles, Krombopulos Michael, Jessica""",
    "RickAndMorty.location": """
        Earth (C-137), Citadel of Ricks, Gazorpazorp, Bird World, Anatomy Park, Interdimensional
        Cable, Cronenberg World, Nuptia 4, Purge Planet, Froopyland, Pluto, Gear World, Blips
        and Chitz, Planet Squanch, Immortality Field Resort""",
    "Space.planet": "Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune",
    "Space.moon": """
        Moon, Phobos, Deimos, Io, Europa, Ganymede, Callisto, Titan, Enceladus, Mimas, Rhea,
        Iapetus, Titania, Oberon, Miranda, Triton, Nereid, Charon""",
    "Space.galaxy": """
        Milky Way, Andromeda, Triangulum, Whirlpool, Sombrero, Pinwheel, Cartwheel, Large
        Magellanic Cloud, Small Magellanic Cloud, Black Eye Galaxy, Sunflower Galaxy""",
    "Space.nebula": """
        Orion Nebula, Crab Nebula, Eagle Nebula, Ring Nebula, Helix Nebula, Cat's Eye Nebula""",
    "Space.star": """
        Sun, Sirius, Canopus, Arcturus, Vega, Capella, Rigel, Procyon, Betelgeuse, Altair,
        Aldebaran, Antares, Spica, Pollux, Fomalhaut, Deneb, Regulus, Proxima Centauri,
        Barnard's Star, Polaris""",
    "Space.constellation": """
        Andromeda, Aquarius, Aries, Cancer, Cassiopeia, Cygnus, Draco, Gemini, Leo, Libra, Lyra,
        Orion, Pegasus, Perseus, Scorpius, Taurus, Ursa Major, Ursa Minor, Virgo""",
    "Space.nasaSpaceCraft": """
        Orion, Mercury, Gemini, Apollo, Enterprise, Columbia, Challenger, Discovery, Atlantis,
        Endeavour, Skylab""",
    "Space.agency": """
        National Aeronautics and Space Administration, European Space Agency, Japan Aerospace
        Exploration Agency, Indian Space Research Organisation, Roscosmos, China National Space
        Administration, Canadian Space Agency""",
    "Space.agencyAbbreviation": "NASA, ESA, JAXA, ISRO, CNSA, CSA, ASI, CNES, DLR, UKSA",
    "Space.company": """
        SpaceX, Blue Origin, Rocket Lab, Virgin Galactic, Boeing, Arianespace, Sierra Nevada""",
    "Space.meteorite": """
        Hoba, Allende, Murchison, Willamette, Orgueil, Sikhote-Alin, Chelyabinsk, Nakhla""",
    "HitchhikersGuideToTheGalaxy.character": """
        Arthur Dent, Ford Prefect, Zaphod Beeblebrox, Trillian, Marvin, Slartibartfast, Deep
        Thought, Fenchurch, Agrajag, Eddie, Prostetnic Vogon Jeltz, Random Dent, Wowbagger""",
    "HitchhikersGuideToTheGalaxy.location": """
        Earth, Magrathea, Betelgeuse, Milliways, Vogsphere, Krikkit, Islington, Damogran, Traal,
        Ursa Minor Beta, Viltvodle VI, Lamuella""",
    "HitchhikersGuideToTheGalaxy.starship": """
        Heart of Gold, Bistromath, Vogon Constructor Ship, Starship Titanic, Billion Year
        Bunker, Krikkit One, Golgafrincham Ark Fleet Ship B""",
    "HitchhikersGuideToTheGalaxy.planet": """
        Earth, Magrathea, Vogsphere, Krikkit, Damogran, Traal, Golgafrincham, Bartledan,
        Lamuella, Santraginus V""",
    "HitchhikersGuideToTheGalaxy.specie": """
        Human, Vogon, Betelgeusian, Dentrassi, Magrathean, Dolphin""",
    "GameOfThrones.character": """
        Jon Snow, Daenerys Targaryen, Tyrion Lannister, Cersei Lannister, Jaime Lannister, Arya
        Stark, Sansa Stark, Bran Stark, Ned Stark, Catelyn Stark, Robb Stark, Theon Greyjoy,
        Joffrey Baratheon, Stannis Baratheon, Brienne of Tarth, Samwell Tarly, Jorah Mormont,
        Petyr Baelish, Varys, Sandor Clegane, Melisandre, Davos Seaworth, Bronn""",
    "GameOfThrones.house": """
        Stark, Lannister, Targaryen, Baratheon, Greyjoy, Tyrell, Martell, Arryn, Tully, Bolton,
        Frey, Mormont, Tarly""",
    "GameOfThrones.city": """
        King's Landing, Winterfell, Braavos, Meereen, Astapor, Yunkai, Pentos, Oldtown,
        Lannisport, Qarth, Volantis, White Harbor""",
    "GameOfThrones.dragon": "Drogon, Rhaegal, Viserion, Balerion, Vhagar, Meraxes, Caraxes, Syrax",
    "StarTrek.character": """
        James T. Kirk, Spock, Leonard McCoy, Montgomery Scott, Nyota Uhura, Hikaru Sulu, Pavel
        Chekov, Jean-Luc Picard, William Riker, Data, Worf, Geordi La Forge, Deanna Troi,
        Beverly Crusher, Benjamin Sisko, Kira Nerys, Quark, Odo, Kathryn Janeway, Seven of Nine,
        Tuvok, Jonathan Archer, Michael Burnham""",
    "StarTrek.location": """
        Vulcan, Qo'noS, Romulus, Bajor, Cardassia Prime, Deep Space Nine, Risa, Earth""",
    "StarTrek.specie": """
        Human, Vulcan, Klingon, Romulan, Bajoran, Cardassian, Ferengi, Borg, Trill, Andorian""",
    "StarTrek.villain": "Khan Noonien Singh, Q, Borg Queen, Gul Dukat, Lore, General Chang, Nero",
    "StarWars.character": """
        Luke Skywalker, Leia Organa, Han Solo, Chewbacca, Darth Vader, Yoda, Obi-Wan Kenobi,
        Anakin Skywalker, Padme Amidala, Palpatine, R2-D2, C-3PO, Lando Calrissian, Boba Fett,
        Rey, Finn, Poe Dameron, Kylo Ren, Mace Windu, Qui-Gon Jinn, Darth Maul, Ahsoka Tano""",
    "StarWars.planets": """
        Tatooine, Hoth, Endor, Naboo, Coruscant, Dagobah, Alderaan, Bespin, Jakku, Mustafar""",
    "StarWars.species": """
        Human, Wookiee, Ewok, Hutt, Gungan, Jawa, Rodian, Twi'lek, Mon Calamari, Zabrak""",
    "StarWars.vehicles": """
        Millennium Falcon, X-wing, TIE fighter, Star Destroyer, Death Star, AT-AT, Slave I""",
    "LordOfTheRings.character": """
        Frodo Baggins, Samwise Gamgee, Gandalf, Aragorn, Legolas, Gimli, Boromir, Merry
        Brandybuck, Pippin Took, Gollum, Sauron, Saruman, Galadriel, Elrond, Arwen, Eowyn,
        Eomer, Theoden, Faramir, Treebeard, Bilbo Baggins""",
    "LordOfTheRings.location": """
        The Shire, Rivendell, Mordor, Gondor, Rohan, Isengard, Moria, Lothlorien, Bree""",
    "Hobbit.character": """
        Bilbo Baggins, Gandalf, Thorin Oakenshield, Balin, Dwalin, Fili, Kili, Dori, Nori, Ori,
        Oin, Gloin, Bifur, Bofur, Bombur, Smaug, Gollum, Beorn, Bard, Elrond""",
    "Pokemon.name": """
        Bulbasaur, Ivysaur, Venusaur, Charmander, Charmeleon, Charizard, Squirtle, Wartortle,
        Blastoise, Pikachu, Raichu, Jigglypuff, Meowth, Psyduck, Snorlax, Gengar, Eevee, Mewtwo,
        Mew, Onix, Magikarp, Gyarados, Dragonite, Lapras, Ditto""",
    "Pokemon.location": """
        Pallet Town, Viridian City, Pewter City, Cerulean City, Vermilion City, Celadon City""",
    "Beer.name": """
        Pliny The Elder, Founders Kentucky Breakfast, Trappistes Rochefort 10, Chocolate St,
        Stone Imperial Russian Stout, Duvel, Westmalle Trappist Tripel, St. Bernardus Abt 12,
        Weihenstephaner Hefeweissbier, Orval Trappist Ale, Sierra Nevada Celebration Ale, Chimay
        Grande Reserve, Arrogant Bastard Ale, Old Rasputin Imperial Stout, Two Hearted Ale""",
    "Beer.style": """
        Light Lager, Pilsner, European Amber Lager, Dark Lager, Bock, Light Hybrid Beer, Amber
        Hybrid Beer, English Pale Ale, Scottish And Irish Ale, English Brown Ale, Porter, Stout,
        India Pale Ale, German Wheat And Rye Beer, Belgian Strong Ale, Sour Ale, Fruit Beer""",
    "Beer.hop": """
        Cascade, Centennial, Citra, Simcoe, Amarillo, Chinook, Fuggle, Golding, Hallertau, Saaz,
        Mosaic""",
    "Beer.malt": """
        Munich, Vienna, Caramel, Chocolate, Black malt, Carapils, Special roast, Victory, Rye
        malt""",
    "Beer.yeast": """
        1007 - German Ale, 1056 - American Ale, 1098 - British Ale, 1214 - Belgian Abbey, 1388""",
    "Coffee.variety": """
        Arabica, Bourbon, Catuai, Caturra, Geisha, Kona, Maragogipe, Pacamara, Typica, SL-28""",
    "Coffee.country": """
        Brazil, Colombia, Ethiopia, Kenya, Guatemala, Honduras, Rwanda, Burundi, Costa Rica""",
    "Coffee.blendName": """
        Morning Cup, Winter Forrester, Summer Light, Blue Choice, Pumpkin Equinox, Goodbye Break""",
    "Food.ingredient": """
        Tomatoes, Onions, Garlic, Basil, Oregano, Rice, Pasta, Chicken, Beef, Salmon, Eggs,
        Flour, Butter, Sugar, Salt, Black Pepper, Olive Oil, Lemon, Potatoes, Carrots, Mushrooms""",
    "Food.dish": """
        Pizza, Lasagne, Tacos, Sushi, Paella, Ramen, Pad Thai, Burger, Caesar Salad, Fish and
        Chips, Tiramisu, Risotto, Pho, Kebab, Fajitas, Mushroom Risotto, Chicken Wings""",
    "Food.fruit": """
        Apples, Bananas, Cherries, Grapes, Kiwi, Lemons, Mango, Oranges, Peaches, Pears, Plums,
        Figs""",
    "Food.vegetable": """
        Carrots, Cucumber, Potatoes, Onions, Peas, Spinach, Leeks, Broccoli, Beans, Cabbage,
        Kale""",
    "Food.spice": """
        Basil, Cinnamon, Cumin, Curry, Ginger, Nutmeg, Oregano, Paprika, Rosemary, Saffron,
        Thyme""",
    "Food.measurement": """
        1/4 teaspoon, 1/2 teaspoon, 1 teaspoon, 1 tablespoon, 1/4 cup, 1/2 cup, 1 cup, 1 pint""",
    "Cat.name": """
        Alfie, Angel, Bella, Charlie, Chloe, Coco, Daisy, Felix, Jasper, Lucy, Luna, Milo,
        Oscar, Simba""",
    "Cat.breed": """
        Abyssinian, Bengal, Birman, British Shorthair, Burmese, Maine Coon, Manx, Persian,
        Siamese""",
    "Dog.name": """
        Bailey, Bella, Buddy, Charlie, Cooper, Daisy, Lucy, Maggie, Max, Molly, Rocky, Sadie,
        Toby""",
    "Dog.breed": """
        Beagle, Boxer, Bulldog, Chihuahua, Corgi, Dachshund, Dalmatian, Husky, Poodle, Pug,
        Terrier""",
    "Animal.name": """
        aardvark, alpaca, badger, bear, beaver, bison, camel, cheetah, crocodile, deer, dolphin,
        eagle, elephant, falcon, fox, giraffe, hedgehog, kangaroo, koala, lion, otter, panda,
        tiger, zebra""",
    "Color.name": """
        red, green, blue, yellow, purple, mint green, teal, white, black, orange, pink, grey,
        maroon, violet, turquoise, tan, sky blue, salmon, plum, orchid, olive, magenta, lime,
        ivory, gold""",
    "Commerce.department": """
        Books, Movies, Music, Games, Electronics, Computers, Home, Garden, Tools, Grocery,
        Health, Beauty, Toys, Kids, Baby, Clothing, Shoes, Jewelry, Sports, Outdoors,
        Automotive, Industrial""",
    "Commerce.material": """
        Steel, Wooden, Concrete, Plastic, Cotton, Granite, Rubber, Leather, Silk, Wool, Linen,
        Marble, Iron, Bronze, Copper, Aluminum, Paper""",
    "Commerce.adjective": """
        Small, Ergonomic, Rustic, Intelligent, Gorgeous, Incredible, Fantastic, Practical,
        Sleek, Awesome, Enormous, Mediocre, Synergistic, Heavy Duty, Lightweight, Aerodynamic,
        Durable""",
    "Commerce.product": """
        Chair, Car, Computer, Gloves, Pants, Shirt, Table, Shoes, Hat, Plate, Knife, Bottle,
        Coat, Lamp, Keyboard, Bag, Bench, Clock, Watch, Wallet""",
    "Commerce.brand": """
        Apple, Samsung, Sony, Nike, Adidas, Lego, Ikea, Bosch, Philips, Canon, Dell, Lenovo,
        Puma""",
    "Commerce.vendor": """
        Amazon, Walmart, Costco, Target, Home Depot, Best Buy, Kroger, Aldi, Tesco, Carrefour,
        Ikea, Zara, Otto, Zalando, Etsy""",
    "GreekPhilosopher.name": """
        Socrates, Plato, Aristotle, Pythagoras, Thales, Anaximander, Heraclitus, Parmenides,
        Zeno, Democritus, Empedocles, Anaxagoras, Epicurus, Diogenes, Plotinus""",
    "Company.buzzword": """
        Adaptive, Advanced, Automated, Balanced, Centralized, Configurable, Cross-platform,
        Customizable, Decentralized, Digitized, Distributed, Ergonomic, Extended, Focused,
        Integrated""",
    "Company.industry": """
        Accounting, Airlines, Automotive, Banking, Biotechnology, Chemicals, Computer Games,
        Construction, Education Management, Financial Services, Hospitality, Insurance,
        Internet, Mining, Oil & Energy, Pharmaceuticals, Real Estate, Retail,
        Telecommunications, Utilities, Wholesale""",
    "Company.profession": """
        teacher, actor, musician, philosopher, writer, doctor, accountant, engineer, astronomer""",
    "Job.field": """
        Marketing, IT, Accounting, Administration, Advertising, Banking, Construction,
        Consulting, Design, Education, Farming, Government, Healthcare, Hospitality, Legal,
        Manufacturing, Mining, Sales""",
    "Job.seniority": """
        Lead, Senior, Direct, Corporate, Dynamic, Future, National, Regional, Global, Junior""",
    "Job.position": """
        Supervisor, Associate, Executive, Liaison, Officer, Manager, Engineer, Specialist,
        Director, Coordinator, Administrator, Architect, Analyst, Designer, Planner, Technician,
        Developer""",
    "Job.keySkills": """
        Teamwork, Communication, Problem solving, Leadership, Organisation, Confidence, Self-
        motivated""",
    "Book.title": """
        Pride and Prejudice, Moby Dick, Great Expectations, Jane Eyre, War and Peace, The
        Odyssey, Dracula, Frankenstein, Emma, Ulysses, Middlemarch, Little Women, The Iliad,
        Hamlet, Don Quixote""",
    "Book.genre": """
        Classic, Comic, Crime, Fable, Fairy tale, Fantasy, Historical fiction, Horror, Mystery,
        Science""",
    "Book.publisher": """
        Penguin, Random House, HarperCollins, Macmillan, Bloomsbury, Scholastic, Hachette,
        Springer""",
    "Music.genre": """
        Rock, Pop, Jazz, Blues, Classical, Country, Electronic, Folk, Funk, Hip Hop, Metal,
        Reggae, Soul""",
    "Music.instrument": """
        Piano, Guitar, Violin, Cello, Flute, Clarinet, Trumpet, Drums, Harp, Organ, Saxophone,
        Oboe""",
    "Esports.game": """
        CS:GO, Dota 2, League of Legends, Overwatch, Rocket League, StarCraft II, Valorant,
        Fortnite""",
    "Esports.team": """
        Fnatic, Cloud9, Team Liquid, Natus Vincere, G2, Astralis, FaZe, Evil Geniuses, T1, OG""",
    "Esports.player": """
        s1mple, Faker, device, coldzera, N0tail, Miracle-, Uzi, Caps, Perkz, Serral, Zeus""",
    "Esports.league": "ESL, DreamHack, LCS, LEC, LCK, OWL, IEM, BLAST, ELEAGUE, FACEIT",
    "Weather.description": """
        Partly Cloudy, Mostly Sunny, Sunny, Cloudy, Light Rain, Rain, Heavy Rain, Snow, Light
        Snow, Fog, Thunderstorms, Windy, Hail, Drizzle, Overcast""",
    "Stock.nsdqSymbol": """
        AAPL, MSFT, AMZN, GOOG, META, TSLA, NVDA, INTC, CSCO, ADBE, PEP, COST, NFLX, AMD, QCOM""",
    "Stock.nyseSymbol": """
        IBM, KO, DIS, GE, JPM, BAC, WMT, XOM, CVX, PFE, MRK, MCD, NKE, BA, CAT, MMM, V, MA""",
    "Nation.nationality": """
        Americans, Britons, Chinese, Dutch, French, Germans, Greeks, Indians, Italians, Japanese""",
    "Nation.capitalCity": """
        Berlin, Paris, London, Rome, Madrid, Vienna, Tokyo, Ottawa, Canberra, Lima, Cairo, Oslo""",
    "ProgrammingLanguage.name": """
        Java, Python, Scala, Rust, Go, C, C++, C#, JavaScript, TypeScript, Kotlin, SQL, Ruby""",
    "University.prefix": "The, Northern, North, Western, West, Southern, South, Eastern, East",
    "Device.manufacturer": """
        Apple, Samsung, Google, Huawei, Xiaomi, OnePlus, Sony, Nokia, Motorola, Dell, HTC, LG""",
    "Device.platform": "Android OS, iOS, Windows 10, Ubuntu, macOS, Chrome OS",
    "Vehicle.manufacturer": """
        Audi, BMW, Chevrolet, Ford, Honda, Hyundai, Kia, Mazda, Nissan, Tesla, Toyota, Volvo""",
    "Vehicle.fuelType": """
        Diesel, Electric, Gasoline, Gasoline Hybrid, Ethanol, Compressed Natural Gas,
        E-85/Gasoline""",
    "Vehicle.transmission": "Manual, Automanual, CVT, Automatic",
    "Name.prefix": "Mr., Mrs., Ms., Miss, Dr.",
    "Name.suffix": "Jr., Sr., I, II, III, IV, V, MD, DDS, PhD, DVM",
    "Demographic.sex": "Male, Female",
    "Demographic.maritalStatus": "Married, Widowed, Divorced, Separated, Never married",
    "Internet.httpMethod": "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS, TRACE, CONNECT",
    "Money.currency": """
        United States Dollar, Euro, Japanese Yen, Pound Sterling, Swiss Franc, Australian Dollar""",
}


def _names(text: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in text.split(","))


THEMES: Final[Mapping[str, tuple[str, ...]]] = {
    theme: _names(text) for theme, text in _TEXTS.items()
}
